//! File names, fingerprints and source positions of findings in the linted repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cli::paths;
use crate::diag::finding::Identity;
use crate::diag::render::Format;
use crate::diag::{Finding, Place, SourcePlace};
use crate::evidence::Input;
use crate::source::{LocalPlace, SourceFiles, without_comment};

/// The folders that paths are relative to.
#[derive(Clone, Debug)]
pub struct Home {
    /// The folder of the baseline, which other checkouts read, too.
    baseline: Option<PathBuf>,
    /// The folder that output paths are relative to; `None` for output that is read locally.
    shown_from: Option<PathBuf>,
}

impl Home {
    /// Finds the folders for a baseline file and an output format.
    ///
    /// Formats that a service reads, such as SARIF, have paths relative to the root of the repository, or else to the
    /// current folder.
    pub fn new(baseline: Option<&Path>, format: Format) -> Self {
        let here = Path::new(".");
        let shown_from = (!format.is_for_people()).then(|| paths::repository(here));
        Home {
            baseline: baseline.and_then(|path| paths::absolute(path).parent().map(Path::to_owned)),
            shown_from: shown_from.map(|root| root.unwrap_or_else(|| paths::absolute(here))),
        }
    }

    /// Returns a file name that is equal in every checkout.
    ///
    /// The name is relative to the folder of the baseline, else to the root of the repository, else to the
    /// current folder.
    fn key(&self, input: &Input) -> Arc<str> {
        let Some(path) = &input.path else { return input.name.clone() };
        let repository = || paths::repository(input.folder());
        let below = |folder: &PathBuf| paths::below(path, folder);
        let found = self.baseline.as_ref().and_then(below).or_else(|| repository().as_ref().and_then(below));
        found.or_else(|| paths::below(path, Path::new("."))).map_or_else(|| input.name.clone(), Arc::from)
    }

    /// Returns the relative path that the output shows; `None` to show the path unchanged.
    fn shown(&self, path: &Path) -> Option<String> {
        match &self.shown_from {
            Some(folder) => paths::below(path, folder),
            None if path.is_absolute() => paths::below(path, Path::new(".")),
            None => None,
        }
    }

    /// Returns the name of a file in the output.
    pub fn name(&self, input: &Input) -> Arc<str> {
        let path = input.path.as_deref().filter(|_| self.shown_from.is_some());
        path.and_then(|path| self.shown(path)).map_or_else(|| input.name.clone(), Arc::from)
    }

    /// Sets the identities of all findings of a file; identical findings get different numbers.
    pub fn identify(&self, input: &Input, findings: &mut [Finding]) {
        let file = self.key(input);
        let mut twins: FxHashMap<String, u32> = FxHashMap::default();
        for finding in findings {
            finding.identity = Identity { file: file.clone(), code: code(finding), twin: 0 };
            let twin = twins.entry(finding.fingerprint()).or_default();
            finding.identity.twin = *twin;
            *twin += 1;
        }
    }

    /// Replaces recorded paths by local ones, and adds columns to Python lines.
    pub fn place(&self, input: &Input, sources: &SourceFiles, finding: &mut Finding) {
        if finding.file == input.name {
            finding.file = self.name(input);
        }
        if let Some(found) = finding.source.as_ref().and_then(|source| self.find(input, source, sources)) {
            finding.is_here = true;
            finding.source = Some(found);
        }
        let related = finding.related.iter_mut().map(|related| &mut related.place);
        for place in related.chain([&mut finding.place]) {
            if let Place::Source(source) = place
                && let Some(found) = self.find(input, source, sources)
            {
                *source = found;
            }
        }
    }

    fn find(&self, input: &Input, source: &SourcePlace, sources: &SourceFiles) -> Option<SourcePlace> {
        if source.file == input.name {
            return Some(SourcePlace { file: self.name(input), ..source.clone() });
        }
        let LocalPlace { path, place: found, .. } = sources.at_home(source)?;
        let name = self.shown(&path).unwrap_or_else(|| paths::slashes(&path));
        Some(SourcePlace { file: name.trim_start_matches("./").into(), ..found })
    }
}

/// Returns the file name, function and code of a Python line, as part of a fingerprint.
///
/// Code that only an export recorded is left out, since not every export records it.
fn code(finding: &Finding) -> Arc<str> {
    let Place::Source(source) = &finding.place else { return Arc::from("") };
    let file = source.file.rsplit(['/', '\\']).next().unwrap_or("");
    let function = source.function.as_deref().unwrap_or("");
    let was_read = source.width > 0;
    let code = source.code.as_deref().filter(|_| was_read).map_or("", |code| without_comment(code).trim());
    Arc::from(format!("{file}\0{function}\0{code}"))
}
