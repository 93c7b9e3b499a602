//! The state of the server: open documents, and the findings of models about Python sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use lsp_types::{Diagnostic, Range, Uri};

use super::convert::{diagnostic, first_line, of_source, of_text};
use super::document::Document;
use super::uri;
use crate::cli::Failure;
use crate::cli::catalog::{Catalog, Extent};
use crate::cli::config::Configs;
use crate::cli::crash;
use crate::cli::lint::args::Args;
use crate::cli::lint::discover::discover;
use crate::cli::lint::settings::Settings;
use crate::cli::lint::suppress::{Directives, Language, Suppressions};
use crate::cli::output::When;
use crate::diag::{Finding, Level, Place};
use crate::evidence::{self, Input, Linted};
use crate::graph::syntax::Source;
use crate::rules::registry::RuleSet;
use crate::source::LocalPlace;

/// The state that requests are answered from.
pub struct Workspace {
    /// The workspace folders.
    roots: Vec<PathBuf>,
    pub catalog: Catalog,
    /// The rules that fixes apply.
    pub rules: Arc<RuleSet>,
    configs: Configs,
    args: Args,
    pub documents: BTreeMap<Uri, Document>,
    /// Findings about Python sources, by model file.
    models: BTreeMap<PathBuf, Vec<Finding>>,
}

impl Workspace {
    /// Creates a workspace of these folders; nothing is linted yet.
    ///
    /// # Errors
    /// The rules or configurations of the user cannot be read.
    pub fn new(roots: Vec<PathBuf>) -> Result<Self, Failure> {
        let mut args = Args::parse_from(["onnx-lint"]);
        args.paths.clone_from(&roots);
        let configs = Configs::new(None, false)?;
        let config = configs.for_folder(roots.first().map_or(Path::new("."), PathBuf::as_path))?;
        let folders: Vec<PathBuf> = config.rules.iter().map(|folder| config.resolve(folder)).collect();
        let catalog = Catalog::load(&folders, Extent::Pages, When::Never)?;
        let rules = catalog.applied(config.preview).clone();
        let (documents, models) = (BTreeMap::new(), BTreeMap::new());
        Ok(Workspace { roots, catalog, rules, configs, args, documents, models })
    }

    /// Reloads configurations and rules.
    ///
    /// # Errors
    /// The errors are those of [`Workspace::new`]; after an error, the workspace is unchanged.
    pub fn reload(&mut self) -> Result<(), Failure> {
        let fresh = Workspace::new(self.roots.clone())?;
        let (documents, models) = (std::mem::take(&mut self.documents), std::mem::take(&mut self.models));
        *self = Workspace { documents, models, ..fresh };
        Ok(())
    }

    /// Returns the settings for files of a folder.
    ///
    /// Settings are created for each call, because they cache sources, which change while the user edits.
    fn settings(&self, folder: &Path) -> Result<Settings, Failure> {
        Settings::new(&self.args, &*self.configs.for_folder(folder)?, &self.catalog)
    }

    /// Lints the models below the folders.
    ///
    /// Returns the Python files that findings of the models refer to now or referred to before.
    ///
    /// # Errors
    /// A folder cannot be searched, or a configuration cannot be read.
    pub fn lint_models(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let mut touched = self.spoken_of();
        let inputs = match self.roots.is_empty() {
            true => Vec::new(),
            false => discover(&self.args, &self.configs, None)?.inputs,
        };
        let is_python = |input: &Input| input.name.ends_with(".py");
        let mut models = BTreeMap::new();
        for input in inputs.iter().filter(|input| !is_python(input)) {
            let Some(path) = input.path.clone() else { continue };
            models.insert(path, self.lint_model(input)?);
        }
        self.models = models;
        touched.extend(self.spoken_of());
        touched.sort();
        touched.dedup();
        Ok(touched)
    }

    /// Returns the findings of a model about local Python lines.
    fn lint_model(&self, input: &Input) -> Result<Vec<Finding>, Failure> {
        let settings = self.settings(input.folder())?;
        let (linted, _) =
            self.shown(input, &settings, || evidence::lint(input, &settings.lint_options(input), &[]));
        let here = |finding: Finding| {
            let LocalPlace { path, place: source, .. } =
                settings.sources.at_home(finding.source.as_ref()?)?;
            let file = Arc::from(std::path::absolute(path).ok()?.to_string_lossy());
            let source = crate::diag::SourcePlace { file, ..source };
            Some(Finding { source: Some(source), ..finding })
        };
        Ok(linted.findings.into_iter().filter_map(here).collect())
    }

    /// Runs `lint`; filters its findings by the settings and removes suppressed ones.
    fn shown(
        &self,
        input: &Input,
        settings: &Settings,
        lint: impl FnOnce() -> Linted,
    ) -> (Linted, Suppressions<'_>) {
        let mut linted = crash::guard(lint).unwrap_or_default();
        linted.findings.retain_mut(|finding| settings.enables(input, finding));
        let mut hidden: Vec<Finding> =
            linted.findings.extract_if(.., |finding| settings.hides(finding)).collect();
        let mut suppressions = Suppressions::new(&self.catalog);
        suppressions.apply(input, settings, &mut linted, &mut hidden);
        (linted, suppressions)
    }

    fn spoken_of(&self) -> Vec<PathBuf> {
        let findings = self.models.values().flatten();
        findings.filter_map(|finding| Some(PathBuf::from(&*finding.source.as_ref()?.file))).collect()
    }

    /// Returns all diagnostics of an open document, or of a file that models refer to.
    ///
    /// # Errors
    /// A configuration cannot be read.
    pub fn diagnostics(&self, uri: &Uri) -> Result<Vec<Diagnostic>, Failure> {
        let Some(path) = uri::path(uri) else { return Ok(Vec::new()) };
        let input = Input::new(&path, false);
        let settings = self.settings(input.folder())?;
        let mut said: Vec<(Finding, Range)> = self.of_models(&path);
        if let Some(document) = self.documents.get(uri) {
            let is_new = |finding: &Finding, range: &Range, said: &[(Finding, Range)]| {
                !said
                    .iter()
                    .any(|(other, at)| other.code == finding.code && at.start.line == range.start.line)
            };
            for (finding, range) in self.of_document(&input, &settings, document) {
                if is_new(&finding, &range, &said) || finding.source.is_none() {
                    said.push((finding, range));
                }
            }
        }
        Ok(said.iter().map(|(finding, range)| diagnostic(finding, *range, &settings.sources)).collect())
    }

    /// Returns the findings in the current text of an open file.
    pub fn of_open(&self, uri: &Uri) -> Vec<(Finding, Range)> {
        let read = || {
            let (path, document) = (uri::path(uri)?, self.documents.get(uri)?);
            let input = Input::new(&path, false);
            let settings = self.settings(input.folder()).ok()?;
            Some(self.of_document(&input, &settings, document))
        };
        read().unwrap_or_default()
    }

    fn of_models(&self, path: &Path) -> Vec<(Finding, Range)> {
        let here = |finding: &&Finding| {
            finding.source.as_ref().is_some_and(|source| Path::new(&*source.file) == path)
        };
        let placed = |finding: &Finding| {
            let source = finding.source.as_ref()?;
            Some((finding.clone(), of_source(source, source.code.as_deref().unwrap_or(""))))
        };
        self.models.values().flatten().filter(here).filter_map(placed).collect()
    }

    fn of_document(&self, input: &Input, settings: &Settings, document: &Document) -> Vec<(Finding, Range)> {
        if input.name.ends_with(".rule") {
            return rule_faults(&input.name, document);
        }
        let options = settings.lint_options(input);
        let input = &Input { content: Some(Bytes::from(document.text.clone())), ..input.clone() };
        let (mut linted, suppressions) = self.shown(input, settings, || evidence::lint(input, &options, &[]));
        let mut about_suppressions = suppressions.of_document(input, settings);
        about_suppressions.retain_mut(|finding| settings.shows(input, finding));
        linted.findings.append(&mut about_suppressions);
        let range = |finding: &Finding| match &finding.place {
            Place::Text(text) => of_text(text),
            Place::Source(source) => {
                of_source(source, document.line(source.line.saturating_sub(1)).unwrap_or(""))
            }
            Place::Graph(graph) => graph.at.as_ref().map_or_else(|| first_line(document), of_text),
            Place::File | Place::Offset(_) => first_line(document),
        };
        linted
            .findings
            .into_iter()
            .map(|finding| {
                let at = range(&finding);
                (finding, at)
            })
            .collect()
    }
}

/// Returns the faults of a rule file.
fn rule_faults(name: &str, document: &Document) -> Vec<(Finding, Range)> {
    let mut rules = crate::rules::registry::RuleSet::default();
    let mut faults = rules.add([Source::new(name, &document.text)]);
    let directives = Directives::of(&document.text, Language::Rules);
    faults.retain(|fault| {
        let line = match &fault.place {
            Place::Text(text) => Some(text.line),
            _ => None,
        };
        let names_it =
            |words: &[String]| words.is_empty() || words.iter().any(|word| fault.code.starts_with(&**word));
        // Errors are shown even if they are suppressed, since a rule with errors is not loaded.
        fault.level == Level::Error || !directives.at(line).any(|(_, one)| names_it(&one.suppression.words))
    });
    let placed = |fault: Finding| {
        let range = match &fault.place {
            Place::Text(text) => of_text(text),
            _ => first_line(document),
        };
        (fault, range)
    };
    faults.into_iter().map(placed).collect()
}
