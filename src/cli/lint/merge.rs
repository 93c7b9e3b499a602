//! Merges findings of Python sources with the same findings of the models that were exported from them.
//!
//! Two findings are the same if they have the same code, are at the same line of the same local file, and
//! their columns overlap as far as they are known. Findings with different codes are never merged, not even
//! if one fault causes both findings.

use std::ops::Range;
use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::settings::Settings;
use crate::cli::paths;
use crate::diag::{Finding, Level};
use crate::evidence::Input;
use crate::source::LocalPlace;

/// The Python line of a finding in a local file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    path: PathBuf,
    line: u32,
    /// Columns of the finding in the line; `None` if unknown.
    columns: Option<Range<u32>>,
    /// Whether the finding is about the linted file itself, rather than about a model.
    is_own: bool,
}

impl Line {
    /// Returns the Python line of a finding.
    ///
    /// Returns `None` if no local file has the line, or if the line changed since the export.
    pub fn of(input: &Input, settings: &Settings, finding: &Finding) -> Option<Line> {
        let source = finding.source.as_ref()?;
        let columns = |column: u32, width: u32| (column > 0).then(|| column..column + width.max(1));
        if source.file == input.name {
            let path = paths::absolute(input.path.as_deref()?);
            let columns = columns(source.column, source.width);
            return Some(Line { path, line: source.line, columns, is_own: true });
        }
        let LocalPlace { path, place: here, is_unchanged } = settings.sources.at_home(source)?;
        let columns = columns(here.column, here.width);
        is_unchanged.then(|| Line { path: paths::absolute(&path), line: source.line, columns, is_own: false })
    }

    fn overlaps(&self, other: &Line) -> bool {
        match (&self.columns, &other.columns) {
            (Some(one), Some(other)) => one.start < other.end && other.start < one.end,
            _ => true,
        }
    }
}

/// A finding, and its line.
pub type Located = (Finding, Option<Line>);

/// The findings of a file.
#[derive(Debug, Default)]
pub struct OfFile {
    /// Findings to report.
    pub shown: Vec<Located>,
    /// Findings below the lowest severity to show. The same findings of Python sources are hidden, too,
    /// except errors.
    pub hidden: Vec<Located>,
}

/// Position of a finding of a model: the index of the file, whether the finding is in `shown` (else in
/// `hidden`), and its index in this list.
type Index = (usize, bool, usize);

/// Removes and returns the findings of Python sources that are the same as a finding of a model.
///
/// A finding of a model replaces at most one finding of a source, so that others on the same line remain.
pub fn merge(files: &mut [OfFile]) -> Vec<Finding> {
    let mut places: FxHashMap<(PathBuf, u32), Vec<Index>> = FxHashMap::default();
    for (file, findings) in files.iter().enumerate() {
        for (list, is_shown) in [(&findings.shown, true), (&findings.hidden, false)] {
            for (index, (_, line)) in list.iter().enumerate() {
                if let Some(line) = line.as_ref().filter(|line| !line.is_own) {
                    let at = (line.path.clone(), line.line);
                    places.entry(at).or_default().push((file, is_shown, index));
                }
            }
        }
    }
    let mut merged = Vec::new();
    if places.is_empty() {
        return merged;
    }
    let mut taken = FxHashSet::default();
    for file in 0..files.len() {
        let mut kept = Vec::new();
        for (finding, line) in std::mem::take(&mut files[file].shown) {
            let same = line.as_ref().filter(|line| line.is_own).map_or(Vec::new(), |line| {
                let there = places.get(&(line.path.clone(), line.line)).into_iter().flatten();
                of_models(files, there, &finding, line, &taken)
            });
            if same.is_empty() {
                kept.push((finding, line));
                continue;
            }
            for &(file, is_shown, index) in &same {
                taken.insert((file, is_shown, index));
                if is_shown {
                    complete(&mut files[file].shown[index].0, &finding);
                }
            }
            merged.push(finding);
        }
        files[file].shown = kept;
    }
    merged
}

/// Returns the first finding of each model that is the same as `finding`, unless `taken` contains it.
///
/// An error of a Python source is proved, so a hidden finding of a model does not hide it.
fn of_models<'a>(
    files: &[OfFile],
    candidates: impl Iterator<Item = &'a Index>,
    finding: &Finding,
    line: &Line,
    taken: &FxHashSet<Index>,
) -> Vec<Index> {
    let mut found: Vec<Index> = Vec::new();
    for &at in candidates {
        let (file, is_shown, index) = at;
        if !is_shown && finding.level == Level::Error {
            continue;
        }
        let list = if is_shown { &files[file].shown } else { &files[file].hidden };
        let Some((other, Some(place))) = list.get(index) else { continue };
        let is_new = !taken.contains(&at) && !found.iter().any(|(one, ..)| *one == file);
        if is_new && other.code == finding.code && place.overlaps(line) {
            found.push(at);
        }
    }
    found
}

/// Adds the rewrite and the help of the source's finding if the model's finding has none.
///
/// If the messages differ, a note has the message of the source's finding. If only the source's finding is an error,
/// its message and level replace those of the model's finding, whose message becomes the note.
fn complete(of_model: &mut Finding, of_source: &Finding) {
    if of_model.rewrite.is_none() {
        of_model.rewrite.clone_from(&of_source.rewrite);
    }
    if of_model.help.is_none() {
        of_model.help.clone_from(&of_source.help);
    }
    let is_raised = of_source.level == Level::Error && of_model.level != Level::Error;
    if is_raised {
        of_model.level = Level::Error;
    }
    if of_model.message == of_source.message {
        return;
    }
    of_model.notes.push(if is_raised {
        let found = std::mem::replace(&mut of_model.message, of_source.message.clone());
        format!("also found in the export: {found}")
    } else {
        format!("also found in the Python source: {}", of_source.message)
    });
}
