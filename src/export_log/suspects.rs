//! Search for the source line of an exception that names no line.
//!
//! The script that ran the export is searched, and the modules that the script imports.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::diag::SourcePlace;
use crate::python::search::{Parameter, Suspect, calls_of, fixed_sizes, imported, models};
use crate::source::{Frame, SourceFiles};

use super::remark::{Input, Kind};

/// Search in the sources of the script that ran the export.
pub struct Suspects<'a> {
    sources: &'a SourceFiles,
    /// Directory of the log and its parent, which often contain the exported code.
    near: SourceFiles,
    /// File name of the log, which is often that of the model.
    log: &'a str,
    /// Line found by each earlier search, by fault and callers (`file:line`, joined by line feeds).
    known: RefCell<FxHashMap<(Kind, String), Option<SourcePlace>>>,
}

/// Maximum number of searches per log.
const MAX_SEARCHES: usize = 64;

impl<'a> Suspects<'a> {
    /// Creates a search for the log at the path `log`, which need not be a file.
    pub fn new(log: &'a str, sources: &'a SourceFiles) -> Self {
        let folder = Path::new(log).parent();
        let above = folder.and_then(Path::parent);
        let roots: Vec<PathBuf> = folder.into_iter().chain(above).map(Path::to_owned).collect();
        let near = SourceFiles::new(vec![], roots);
        let log = Path::new(log).file_name().and_then(|name| name.to_str()).unwrap_or(log);
        Suspects { sources, near, log, known: RefCell::default() }
    }

    /// Returns the most likely line of the fault `kind`.
    /// Returns `None` if no line is likely enough.
    ///
    /// `callers` are the frames of the script that ran the export.
    pub fn find(&self, kind: &Kind, callers: &[Frame]) -> Option<SourcePlace> {
        let led: Vec<String> = callers.iter().map(|frame| format!("{}:{}", frame.file, frame.line)).collect();
        let key = (kind.clone(), led.join("\n"));
        let mut known = self.known.borrow_mut();
        if !known.contains_key(&key) && known.len() >= MAX_SEARCHES {
            return None;
        }
        known.entry(key).or_insert_with(|| self.search(kind, callers)).clone()
    }

    fn search(&self, kind: &Kind, callers: &[Frame]) -> Option<SourcePlace> {
        let mut suspects: Vec<(Suspect, String, Arc<str>)> = Vec::new();
        let mut has_named = false;
        let mut modules = 0;
        for (file, text) in self.texts(callers) {
            modules += models(&text);
            has_named |= text.lines().filter_map(class_name).any(|class| self.is_named(class));
            suspects.extend(
                self.ask(kind, &text).into_iter().map(|suspect| (suspect, file.clone(), text.clone())),
            );
        }
        let named: Vec<_> =
            suspects.iter().filter(|(suspect, ..)| self.is_named(&suspect.class)).cloned().collect();
        // The log names the exported class, which has no suspect line: do not report a line of another class.
        if named.is_empty() && has_named {
            return None;
        }
        // With several models, a size does not show which one was exported, but an operator call can.
        if named.is_empty() && modules > 1 && matches!(kind, Kind::Specialized { .. }) {
            return None;
        }
        let mut suspects = if named.is_empty() { suspects } else { named };
        suspects.sort_by_key(|(suspect, ..)| suspect.doubt);
        let (best, file, text) = suspects.first()?;
        let rivals = suspects.iter().filter(|(suspect, ..)| suspect.doubt == best.doubt);
        let one_class = rivals.clone().all(|(suspect, of, _)| suspect.class == best.class && of == file);
        if !one_class || rivals.count() > 1 && !self.is_named(&best.class) {
            return None;
        }
        let code = text.lines().nth(usize::try_from(best.line.checked_sub(1)?).ok()?);
        let mut place = self.sources.place(file, best.line, 0, Some("forward"), code);
        place.code = code.map(Arc::from);
        Some(place)
    }

    fn ask(&self, kind: &Kind, text: &str) -> Vec<Suspect> {
        match kind {
            Kind::Specialized { input, axis, size: Some(size) } => {
                let parameter = match input {
                    Input::Named(name) => Parameter::Named(name),
                    Input::Position(at) => Parameter::Position(*at),
                    Input::Unknown => Parameter::Any,
                };
                fixed_sizes(text, parameter, *axis, *size)
            }
            Kind::Unsupported { operator, .. } => calls_of(text, operator),
            _ => vec![],
        }
    }

    /// Returns true if the log is named after a class: `BakedBatch.pt2.log`.
    fn is_named(&self, class: &str) -> bool {
        let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
        let stem = self.log.split('.').next().unwrap_or("");
        !class.is_empty() && plain(stem) == plain(class)
    }

    /// Returns path and text of each unchanged file of a frame, and of the modules that these files import.
    fn texts(&self, callers: &[Frame]) -> Vec<(String, Arc<str>)> {
        let mut found: Vec<(String, Arc<str>)> = Vec::new();
        for frame in callers {
            if found.iter().any(|(file, _)| *file == frame.file) {
                continue;
            }
            let Some((files, text)) = self.verified(frame) else { continue };
            let folder = frame.file.replace('\\', "/");
            let folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            found.push((frame.file.clone(), text.clone()));
            for module in imported(&text) {
                let file =
                    if folder.is_empty() { format!("{module}.py") } else { format!("{folder}/{module}.py") };
                if let Some(text) =
                    files.text(&file).filter(|_| found.iter().all(|(known, _)| *known != file))
                {
                    found.push((file, text));
                }
            }
        }
        found
    }

    /// Returns the file of a frame and its text, if the line of the frame still has the recorded code.
    fn verified(&self, frame: &Frame) -> Option<(&SourceFiles, Arc<str>)> {
        let code = frame.code.as_deref()?;
        [self.sources, &self.near].into_iter().find_map(|files| {
            let line = files.line(&frame.file, frame.line)?;
            (line.trim() == code.trim()).then(|| files.text(&frame.file))?.map(|text| (files, text))
        })
    }
}

/// Returns the name in a class definition: `class Net(nn.Module):`.
fn class_name(line: &str) -> Option<&str> {
    line.strip_prefix("class ")?.split(['(', ':', ' ']).next()
}

#[cfg(test)]
mod tests;
