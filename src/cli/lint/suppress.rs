//! Suppressions: findings that users accept.
//!
//! Users write suppressions in a comment, in the configuration, or in the metadata of the model.

mod comment;
mod file;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

pub use self::file::{Directives, Language};
pub use self::report::Report;
use super::settings::Settings;
use crate::cli::catalog::Catalog;
use crate::cli::{paths, selectors};
use crate::diag::{Finding, Place, Selection, SourcePlace};
use crate::evidence::{Accepted, Input, Linted};
use crate::python::notebook_lines;
use crate::read::sniff::{Kind, sniff};
use crate::source::LocalPlace;

/// The suppression comments of a file, and which of their rules suppressed a finding.
#[derive(Debug, Default)]
struct Commented {
    directives: Directives,
    /// For each comment, a flag for each of its rules; a comment without rules has one flag.
    used: Vec<Vec<bool>>,
}

/// Removes suppressed findings and tracks which suppressions are used.
pub struct Suppressions<'c> {
    catalog: &'c Catalog,
    /// Comments of the files that were read, by absolute path; by name if an input is not a file.
    files: FxHashMap<PathBuf, Commented>,
    /// Configuration entries that suppressed a finding, by file and index.
    used_entries: FxHashSet<(Arc<Path>, usize)>,
    /// Unused suppressions in the metadata of models, by input name.
    in_models: BTreeMap<Arc<str>, Vec<Accepted>>,
    /// Names of Python files that findings refer to, and that were not found.
    missing: FxHashSet<String>,
}

impl<'c> Suppressions<'c> {
    /// Returns an empty set of suppressions.
    pub fn new(catalog: &'c Catalog) -> Self {
        Suppressions {
            catalog,
            files: FxHashMap::default(),
            used_entries: FxHashSet::default(),
            in_models: BTreeMap::new(),
            missing: FxHashSet::default(),
        }
    }

    /// Removes the suppressed findings of a file.
    ///
    /// `hidden` has the findings below the severity to show. Suppressed findings are removed from `hidden`,
    /// too, so that their suppressions count as used.
    pub fn apply(
        &mut self,
        input: &Input,
        settings: &Settings,
        linted: &mut Linted,
        hidden: &mut Vec<Finding>,
    ) {
        let in_model = std::mem::take(&mut linted.accepted);
        let language = language(input);
        let mut is_used = vec![false; in_model.len()];
        let codes: Vec<_> = in_model.iter().map(|one| self.selection(&one.words)).collect();
        for findings in [&mut linted.findings, hidden] {
            findings.retain(|finding| {
                let node = finding.place.graph().map(|graph| &graph.node);
                let covering = in_model.iter().zip(&codes).position(|(one, codes)| {
                    one.node.as_ref().is_none_or(|own| Some(own) == node) && codes.contains(&finding.code)
                });
                if let Some(at) = covering {
                    is_used[at] = true;
                    return false;
                }
                !self.is_suppressed((input, language), settings, finding)
            });
        }
        let unused = in_model.into_iter().zip(is_used).filter(|(_, is_used)| !is_used);
        self.in_models.entry(input.name.clone()).or_default().extend(unused.map(|(one, _)| one));
    }

    /// Returns true if a comment or the configuration suppresses a finding.
    fn is_suppressed(
        &mut self,
        (input, language): (&Input, Option<Language>),
        settings: &Settings,
        finding: &Finding,
    ) -> bool {
        (language == Some(Language::OnnxText) && self.in_text(input, finding))
            || self.in_python(input, settings, finding)
            || self.in_config(input, settings, finding)
    }

    /// Returns true if a comment in the ONNX text suppresses a finding about it.
    fn in_text(&mut self, input: &Input, finding: &Finding) -> bool {
        let line = match &finding.place {
            Place::Text(text) => Some(text.line),
            Place::Graph(graph) => graph.at.as_ref().map(|at| at.line),
            Place::File => None,
            Place::Offset(_) | Place::Source(_) => return false,
        };
        self.in_file((own_path(input), Language::OnnxText), line, finding, || read(input))
    }

    /// Returns true if a comment in the Python source suppresses a finding about it.
    fn in_python(&mut self, input: &Input, settings: &Settings, finding: &Finding) -> bool {
        let Some(source) = &finding.source else { return false };
        if source.file == input.name {
            return self
                .in_file((own_path(input), Language::Python), Some(source.line), finding, || read(input));
        }
        let Some(LocalPlace { path, is_unchanged, .. }) = settings.sources.at_home(source) else {
            self.missing.extend(file_name(&source.file).map(str::to_owned));
            return self.in_recorded(source, finding);
        };
        // If the line changed since the export, only comments for the whole file apply, and comments in the
        // recorded line.
        let line = is_unchanged.then_some(source.line);
        let text = || settings.sources.text(&source.file).as_deref().unwrap_or("").to_owned();
        self.in_file((paths::absolute(&path), Language::Python), line, finding, text)
            || (!is_unchanged && self.in_recorded(source, finding))
    }

    /// Returns true if a comment in the line that the exporter recorded suppresses a finding.
    fn in_recorded(&self, source: &SourcePlace, finding: &Finding) -> bool {
        let Some(code) = source.code.as_deref() else { return false };
        let directives = Directives::of(code, Language::Python);
        directives.all.iter().any(|one| self.selection(&one.suppression.words).contains(&finding.code))
    }

    /// Returns true if a comment in a file suppresses a finding, and marks this suppression as used.
    fn in_file(
        &mut self,
        (path, language): (PathBuf, Language),
        line: Option<u32>,
        finding: &Finding,
        text: impl FnOnce() -> String,
    ) -> bool {
        let commented = self.files.entry(path).or_insert_with(|| Commented::of(&text(), language));
        let catalog = self.catalog;
        let covering = commented.directives.at(line).find_map(|(at, directive)| {
            let words = &directive.suppression.words;
            let is_covered =
                |word: &String| codes(word, catalog).is_ok_and(|codes| codes.contains(&finding.code));
            if words.is_empty() { Some((at, 0)) } else { Some((at, words.iter().position(is_covered)?)) }
        });
        if let Some((at, word)) = covering {
            commented.used[at][word] = true;
        }
        covering.is_some()
    }

    fn in_config(&mut self, input: &Input, settings: &Settings, finding: &Finding) -> bool {
        let Some(at) = settings.suppress.iter().position(|one| one.covers(input, finding)) else {
            return false;
        };
        self.used_entries.insert((settings.suppress[at].config.clone(), at));
        true
    }

    /// Returns the rules of a suppression; if `words` is empty, all rules. Unknown words select no rules.
    fn selection(&self, words: &[String]) -> Selection {
        if words.is_empty() {
            return Selection::all();
        }
        let known = words
            .iter()
            .filter_map(|word| selectors::resolve(std::slice::from_ref(word), self.catalog, "").ok());
        Selection::new(known.flatten().collect(), Vec::new())
    }
}

impl Commented {
    fn of(text: &str, language: Language) -> Self {
        let directives = Directives::of(text, language);
        let flags = |directive: &file::Directive| vec![false; directive.suppression.words.len().max(1)];
        Commented { used: directives.all.iter().map(flags).collect(), directives }
    }
}

/// Returns the rules that a word of a suppression selects.
/// For an unknown word, the error is the closest known word, if any.
fn codes(word: &str, catalog: &Catalog) -> Result<Selection, Option<String>> {
    match selectors::resolve(&[word.to_owned()], catalog, "") {
        Ok(codes) => Ok(Selection::new(codes, Vec::new())),
        Err(_) => Err(catalog.suggest(word).map(str::to_owned)),
    }
}

/// Returns the language of an input, if it can have suppression comments.
fn language(input: &Input) -> Option<Language> {
    match input.sniff()? {
        Kind::Python | Kind::Notebook => Some(Language::Python),
        Kind::OnnxText => Some(Language::OnnxText),
        _ => None,
    }
}

/// Returns the key of an input: its absolute path, or its name if it is not a file.
fn own_path(input: &Input) -> PathBuf {
    input.path.as_deref().map_or_else(|| PathBuf::from(&*input.name), paths::absolute)
}

/// Reads the text of an input.
/// For a notebook, only the code is returned, on the same lines as in the file.
fn read(input: &Input) -> String {
    let text = input.read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let is_notebook = sniff(&input.name, text.as_bytes()) == Kind::Notebook;
    let code = if is_notebook { notebook_lines(&text) } else { None };
    code.unwrap_or(text)
}

fn file_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).next()
}
