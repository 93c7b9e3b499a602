//! The Python behind a model: the functions that its nodes came from are linted with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::logged::is_same;
use crate::diag::known;
use crate::diag::{Finding, RuleId};
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::lint::exporter;
use crate::lint::locate::Locator;
use crate::python;
use crate::source::SourceFiles;

/// What is wrong in the functions that `model` was exported from, as far as their sources are here.
///
/// What is `said` already of the same line is left out: it has more evidence, the graph itself.
pub fn lint(model: &Model, sources: &SourceFiles, said: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, lines) in lines(model, sources) {
        let Some(text) = sources.text(&file) else { continue };
        let lines: Vec<u32> = lines.into_iter().collect();
        findings.extend(python::lint_functions(&text, &file, &lines, sources));
    }
    findings.retain(|finding| !said.iter().any(|said| is_same(said, finding)));
    if exporter::is_torch_export(model) {
        findings.retain(|finding| !TRACER_ONLY.iter().any(|rule| *rule.code == *finding.code));
    }
    findings
}

/// What the tracing exporter gets wrong, and the one based on `torch.export` right, or refuses.
const TRACER_ONLY: [RuleId; 12] = [
    known::BAKED_SHAPE,
    known::ITEM_BAKED,
    known::IN_PLACE_SHAPE_ALIAS,
    known::IN_PLACE_VIEW_LOST,
    known::NUMPY_CONSTANT,
    known::TRACED_BRANCH,
    known::NEGATIVE_INDEX,
    known::INDEX_PUT_RANK,
    known::INDEX_PUT_NON_CONSECUTIVE,
    known::INDEX_PUT_BROADCAST,
    known::ONE_HOT_DEPTH,
    known::TENSOR_DATA,
];

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
