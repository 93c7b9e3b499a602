//! Suppressions: findings that users accept.
//!
//! Users write them in a comment in Python, in the configuration, or in the metadata of the model.

mod comment;

use std::sync::Arc;

use globset::GlobMatcher;
use rustc_hash::FxHashSet;

use self::comment::{Comment, comment};
use super::config::{Config, Suppress};
use super::globs;
use super::home::Home;
use super::settings::{Assigned, Settings};
use crate::cli::catalog::Catalog;
use crate::cli::{Failure, selectors};
use crate::diag::{Finding, Selection};
use crate::evidence::{Input, Linted};
use crate::read::file;

/// A suppression of a configuration.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its text, for the report of unused suppressions.
    text: String,
    config: Arc<str>,
    codes: Selection,
    node: Option<GlobMatcher>,
    module: Option<GlobMatcher>,
    file: Option<Arc<globs::Globs<()>>>,
}

/// Reads the suppressions of a configuration.
pub fn entries(config: &Config, catalog: &Catalog) -> Result<Vec<Entry>, Failure> {
    config.suppress.iter().map(|suppress| one(suppress, config, catalog)).collect()
}

fn one(suppress: &Suppress, config: &Config, catalog: &Catalog) -> Result<Entry, Failure> {
    let origin = config.origin("suppress");
    let codes = selectors::resolve(&suppress.rules, catalog, &origin)?;
    let glob = |glob: &Option<String>| glob.as_deref().map(|glob| globs::matcher(glob, &origin)).transpose();
    let file = |glob: &str| globs::Globs::new(&config.folder, [(glob, ())].into_iter()).map(Arc::new);
    Ok(Entry {
        text: format!("{}: `{}`", config.origin("suppress"), suppress.rules.join(", ")),
        config: Arc::from(config.folder.to_string_lossy()),
        codes: Selection::new(codes, Vec::new()),
        node: glob(&suppress.node)?,
        module: glob(&suppress.module)?,
        file: suppress.file.as_deref().map(file).transpose()?,
    })
}

impl Entry {
    fn covers(&self, input: &Input, finding: &Finding) -> bool {
        let node = finding.place.graph().map_or("", |graph| graph.node.trim_matches('"'));
        let in_file = |glob: &Arc<globs::Globs<()>>| {
            input.path.as_ref().is_some_and(|path| glob.matches(path).next().is_some())
        };
        self.codes.contains(&finding.code)
            && self.node.as_ref().is_none_or(|glob| glob.is_match(node))
            && self.module.as_ref().is_none_or(|glob| glob.is_match(&*finding.anchor.module))
            && self.file.as_ref().is_none_or(in_file)
    }
}

/// Removes suppressed findings and tracks which suppressions are used.
pub struct Suppressions<'c> {
    catalog: &'c Catalog,
    /// Lines whose comments suppressed a finding, by displayed file name.
    used_lines: FxHashSet<(Arc<str>, u32)>,
    /// Configuration entries that suppressed a finding, by folder and index.
    used_entries: FxHashSet<(Arc<str>, usize)>,
    /// Unused suppressions in models.
    unused: Vec<String>,
}

impl<'c> Suppressions<'c> {
    /// Returns an empty set of suppressions.
    pub fn new(catalog: &'c Catalog) -> Self {
        Suppressions {
            catalog,
            used_lines: FxHashSet::default(),
            used_entries: FxHashSet::default(),
            unused: Vec::new(),
        }
    }

    /// Removes the suppressed findings of a file.
    pub fn apply(&mut self, input: &Input, settings: &Settings, linted: &mut Linted) {
        let in_model = std::mem::take(&mut linted.accepted);
        let mut is_used = vec![false; in_model.len()];
        let codes: Vec<_> = in_model.iter().map(|one| self.resolve(&one.words)).collect();
        linted.findings.retain(|finding| {
            let node = finding.place.graph().map(|graph| &graph.node);
            let covering = in_model.iter().zip(&codes).position(|(one, codes)| {
                one.node.as_ref().is_none_or(|own| Some(own) == node) && covers(codes, finding)
            });
            if let Some(at) = covering {
                is_used[at] = true;
                return false;
            }
            !self.in_python(finding) && !self.in_config(input, settings, finding)
        });
        for ((one, codes), _) in in_model.iter().zip(&codes).zip(&is_used).filter(|(_, is_used)| !**is_used) {
            let node = one.node.as_ref().map_or_else(String::new, |node| format!(":{node}"));
            let what = format!("{}{node}: `{}` in the metadata", input.name, one.words.join(", "));
            self.unused.extend(unused(&what, codes, settings));
        }
    }

    fn in_python(&mut self, finding: &Finding) -> bool {
        let Some(source) = &finding.source else { return false };
        let Some(comment) = source.code.as_deref().and_then(comment) else { return false };
        let accepts = covers(&self.resolve(&comment.words), finding);
        if accepts {
            self.used_lines.insert((source.file.clone(), source.line));
        }
        accepts
    }

    fn in_config(&mut self, input: &Input, settings: &Settings, finding: &Finding) -> bool {
        let Some(at) = settings.suppress.iter().position(|one| one.covers(input, finding)) else {
            return false;
        };
        self.used_entries.insert((settings.suppress[at].config.clone(), at));
        true
    }

    fn resolve(&self, words: &[String]) -> Result<Selection, String> {
        let codes = selectors::resolve(words, self.catalog, "onnx-lint");
        let codes = codes.map_err(|failure| failure.message().replacen("onnx-lint: ", "", 1))?;
        Ok(Selection::new(codes, Vec::new()))
    }

    /// Returns one sentence for each unused suppression.
    ///
    /// Comments and configurations are judged only if `is_whole`: the run covered the whole project.
    pub fn unused(mut self, inputs: &[Assigned], home: &Home, is_whole: bool) -> Vec<String> {
        let is_python = |input: &Input| input.name.ends_with(".py");
        let has_models = inputs.iter().any(|(input, _)| !is_python(input));
        for (input, settings) in inputs.iter().filter(|_| is_whole) {
            if is_python(input) && has_models {
                self.unused_comments(input, settings, home);
            }
            for (at, one) in settings.suppress.iter().enumerate() {
                if self.used_entries.insert((one.config.clone(), at)) {
                    self.unused.extend(unused(&one.text, &Ok(one.codes.clone()), settings));
                }
            }
        }
        self.unused
    }

    fn unused_comments(&mut self, input: &Input, settings: &Settings, home: &Home) {
        let bytes = input.path.as_deref().and_then(|path| file::read(path).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let file = home.name(input);
        for (line, number) in text.lines().zip(1..) {
            let Some(Comment { words, column }) = comment(line) else { continue };
            if !self.used_lines.contains(&(file.clone(), number)) {
                let what = format!("{file}:{number}:{column}: `ignore[{}]`", words.join(", "));
                self.unused.extend(unused(&what, &self.resolve(&words), settings));
            }
        }
    }
}

/// Returns true if the named rules include that of the finding. Invalid names cover nothing.
fn covers(codes: &Result<Selection, String>, finding: &Finding) -> bool {
    codes.as_ref().is_ok_and(|codes| codes.contains(&finding.code))
}

/// Returns the sentence for an unused suppression, unless its rules were not enabled.
fn unused(what: &str, codes: &Result<Selection, String>, settings: &Settings) -> Option<String> {
    match codes {
        Err(why) => Some(format!("{what}: {why}")),
        Ok(codes) => settings.looks_for(codes).then(|| format!("{what} suppresses nothing")),
    }
}
