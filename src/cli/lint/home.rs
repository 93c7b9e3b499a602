//! Findings in terms of the repository that is linted: what they are known by, and where their Python stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cli::paths;
use crate::diag::finding::Identity;
use crate::diag::render::Format;
use crate::diag::{Finding, Place, SourcePlace};
use crate::evidence::Input;
use crate::source::{SourceFiles, without_comment};

/// The folders that paths are seen from.
#[derive(Clone, Debug)]
pub struct Home {
    /// Of the baseline, where there is one: it is read where the repository stands elsewhere.
    baseline: Option<PathBuf>,
    /// What output names paths from; `None` leaves them as they were named.
    shown_from: Option<PathBuf>,
}

impl Home {
    /// `baseline`: the file. What services show beside the code is named from the root of the repository,
    /// what people read from where they stand.
    pub fn new(baseline: Option<&Path>, format: Format) -> Self {
        let here = Path::new(".");
        let shown_from = (!format.is_for_people()).then(|| paths::repository(here));
        Home {
            baseline: baseline.and_then(|path| paths::absolute(path).parent().map(Path::to_owned)),
            shown_from: shown_from.map(|root| root.unwrap_or_else(|| paths::absolute(here))),
        }
    }

    /// The path of a file that is the same in every checkout: from the folder of the baseline, else from the
    /// root of the repository, else from the current folder.
    fn key(&self, input: &Input) -> Arc<str> {
        let Some(path) = &input.path else { return input.name.clone() };
        let repository = || paths::repository(input.folder());
        let below = |folder: &PathBuf| paths::below(path, folder);
        let found = self.baseline.as_ref().and_then(below).or_else(|| repository().as_ref().and_then(below));
        found.or_else(|| paths::below(path, Path::new("."))).map_or_else(|| input.name.clone(), Arc::from)
    }

    /// How a path is shown.
    fn shown(&self, path: &Path) -> Option<String> {
        match &self.shown_from {
            Some(folder) => paths::below(path, folder),
            None if path.is_absolute() => paths::below(path, Path::new(".")),
            None => None,
        }
    }

    /// The name of a file in the output.
    pub fn name(&self, input: &Input) -> Arc<str> {
        let path = input.path.as_deref().filter(|_| self.shown_from.is_some());
        path.and_then(|path| self.shown(path)).map_or_else(|| input.name.clone(), Arc::from)
    }

    /// Gives the findings of a file, which are all that there are, what they are known by.
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

    /// Names files as they stand here, and gives lines of Python their columns.
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
        let (path, found) = sources.at_home(source)?;
        let name = self.shown(&path).unwrap_or_else(|| paths::slashes(&path));
        Some(SourcePlace { file: name.trim_start_matches("./").into(), ..found })
    }
}

/// What tells faults of Python from one another: it is what is wrong, whatever was exported from it. What an
/// exporter recorded of a line is not there in every export.
fn code(finding: &Finding) -> Arc<str> {
    let Place::Source(source) = &finding.place else { return Arc::from("") };
    let file = source.file.rsplit(['/', '\\']).next().unwrap_or("");
    let function = source.function.as_deref().unwrap_or("");
    let was_read = source.width > 0;
    let code = source.code.as_deref().filter(|_| was_read).map_or("", |code| without_comment(code).trim());
    Arc::from(format!("{file}\0{function}\0{code}"))
}
