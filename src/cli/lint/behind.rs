//! The Python behind a model: the functions that its nodes came from are linted with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::said::is_same;
use crate::diag::Finding;
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::lint::locate::Locator;
use crate::read::python;
use crate::source::SourceFiles;

/// What is wrong in the functions that `model` was exported from, as far as their sources are here.
///
/// What `known` says already of the same line is left out: it has more evidence, the graph itself.
pub fn lint(model: &Model, sources: &SourceFiles, known: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, lines) in lines(model, sources) {
        let Some(text) = sources.text(&file) else { continue };
        let lines: Vec<u32> = lines.into_iter().collect();
        findings.extend(python::lint_functions(&text, &file, &lines));
    }
    findings.retain(|finding| !known.iter().any(|known| is_same(known, finding)));
    findings
}

/// The lines that nodes came from, by file.
fn lines(model: &Model, sources: &SourceFiles) -> BTreeMap<Arc<str>, BTreeSet<u32>> {
    let uses = Uses::new(model);
    let locator = Locator::new(model, &uses, sources);
    let mut lines: BTreeMap<Arc<str>, BTreeSet<u32>> = BTreeMap::new();
    for source in model.nodes.ids().filter_map(|node| locator.own_source(node)) {
        lines.entry(source.file).or_default().insert(source.line);
    }
    lines
}
