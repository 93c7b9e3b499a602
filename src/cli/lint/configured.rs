//! Suppressions of a configuration.

use std::path::Path;
use std::sync::Arc;

use globset::GlobMatcher;

use super::globs;
use crate::cli::catalog::Catalog;
use crate::cli::config::{Config, Suppress};
use crate::cli::{Failure, selectors};
use crate::diag::{Finding, Selection, TextPlace};
use crate::evidence::Input;

/// A suppression of a configuration.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The codes, prefixes and names in the list `rules`.
    pub words: Vec<String>,
    /// The configuration file.
    pub config: Arc<Path>,
    /// The location of the list `rules` in the configuration file.
    pub place: Option<TextPlace>,
    /// The codes of the rules that the list selects.
    pub codes: Selection,
    node: Option<GlobMatcher>,
    module: Option<GlobMatcher>,
    file: Option<Arc<globs::Globs<()>>>,
}

/// Reads the suppressions of a configuration.
pub fn entries(config: &Config, catalog: &Catalog) -> Result<Vec<Entry>, Failure> {
    let file: Arc<Path> = Arc::from(config.file.as_path());
    let entries = config.suppress.iter().enumerate().map(|(index, suppress)| {
        let place = config.places.get(index).cloned();
        one(suppress, (config, &file, place), catalog)
    });
    entries.collect()
}

fn one(
    suppress: &Suppress,
    (config, path, place): (&Config, &Arc<Path>, Option<TextPlace>),
    catalog: &Catalog,
) -> Result<Entry, Failure> {
    let origin = config.origin("suppress");
    let words = suppress.rules.get_ref().clone();
    let codes = selectors::resolve(&words, catalog, &origin)?;
    let glob = |glob: &Option<String>| glob.as_deref().map(|glob| globs::matcher(glob, &origin)).transpose();
    let file = |glob: &str| globs::Globs::new(&config.folder, [(glob, ())].into_iter()).map(Arc::new);
    Ok(Entry {
        words,
        config: path.clone(),
        place,
        codes: Selection::new(codes, Vec::new()),
        node: glob(&suppress.node)?,
        module: glob(&suppress.module)?,
        file: suppress.file.as_deref().map(file).transpose()?,
    })
}

impl Entry {
    /// Returns true if the suppression applies to a finding about this input.
    pub fn covers(&self, input: &Input, finding: &Finding) -> bool {
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
