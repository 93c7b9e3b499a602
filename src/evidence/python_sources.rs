//! Lints the Python sources of a model: the functions that its nodes came from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::logged::is_same;
use crate::analyses::exporter;
use crate::analyses::locate::Locator;
use crate::diag::rule_ids;
use crate::diag::{Finding, Level, RuleId};
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::python;
use crate::source::{SourceFiles, is_installed, is_library};
use crate::torch::trace::Trace;

/// Lints the functions that `model` was exported from, as far as their sources are available.
///
/// If `said` already has a finding of the same rule at the same line, the finding in `said` is kept, because
/// the graph is better evidence, and gets only the suggested rewrite of the Python finding.
pub fn lint(model: &Model, sources: &SourceFiles, said: &mut Vec<Finding>) {
    let by_program = exporter::is_torch_export(model);
    lint_lines(lines(model, sources), by_program, sources, said);
}

/// Like [`lint`], for a program saved by `torch.export`.
pub fn lint_program(program: &Trace, sources: &SourceFiles, said: &mut Vec<Finding>) {
    let made_by = program.nodes.iter().filter_map(|node| node.source.as_ref());
    let mut lines: BTreeMap<Arc<str>, BTreeSet<u32>> = BTreeMap::new();
    for source in made_by.filter(|source| !is_library(&source.file)) {
        lines.entry(source.file.clone()).or_default().insert(source.line);
    }
    lint_lines(lines, true, sources, said);
}

fn lint_lines(
    lines: BTreeMap<Arc<str>, BTreeSet<u32>>,
    by_program: bool,
    sources: &SourceFiles,
    said: &mut Vec<Finding>,
) {
    let mut findings = Vec::new();
    for (file, lines) in lines {
        let Some(text) = sources.text(&file) else { continue };
        let lines: Vec<u32> = lines.into_iter().collect();
        findings.extend(python::lint_functions(&text, &file, &lines, sources));
    }
    findings.retain(|finding| {
        let mut same = said.iter_mut().filter(|said| is_same(said, finding)).peekable();
        let is_new = same.peek().is_none();
        same.for_each(|said| said.rewrite.clone_from(&finding.rewrite));
        is_new
    });
    // A loop over a static axis is unrolled correctly; the loop findings of the graph then have level info.
    // In a `torch.export` program, the axes of all unrolled loops are static.
    let is_loop = |finding: &Finding| *finding.code == *rule_ids::UNROLLED_LOOP.code;
    let loops: Vec<Level> = said.iter().filter(|said| is_loop(said)).map(|said| said.level).collect();
    if by_program || loops.iter().max().is_some_and(|most| *most <= Level::Info) {
        findings.iter_mut().filter(|finding| is_loop(finding)).for_each(|one| one.level = Level::Info);
    }
    if by_program {
        let is_right = |finding: &Finding| TRACER_ONLY.iter().any(|rule| *rule.code == *finding.code);
        let holds = |finding: &Finding| python::is_size_branch(finding) || python::is_size_fraction(finding);
        findings.retain(|finding| !is_right(finding) || holds(finding));
    }
    // Code of installed packages usually handles its own branches, so only the graph can prove a fault in it.
    let is_packaged = |one: &&mut Finding| one.source.as_ref().is_some_and(|at| is_installed(&at.file));
    findings.iter_mut().filter(is_packaged).for_each(|one| one.level = one.level.min(Level::Info));
    said.extend(findings);
}

/// Rules about faults that only the tracing exporter causes.
/// The exporter based on `torch.export` exports the reported code correctly, or rejects it. Only branches on
/// sizes, and integer parts of fractional sizes such as `int(n / 2)`, become constants with both exporters.
const TRACER_ONLY: [RuleId; 12] = [
    rule_ids::BAKED_SHAPE,
    rule_ids::ITEM_BAKED,
    rule_ids::IN_PLACE_SHAPE_ALIAS,
    rule_ids::IN_PLACE_VIEW_LOST,
    rule_ids::NUMPY_CONSTANT,
    rule_ids::TRACED_BRANCH,
    rule_ids::NEGATIVE_INDEX,
    rule_ids::INDEX_PUT_RANK,
    rule_ids::INDEX_PUT_NON_CONSECUTIVE,
    rule_ids::INDEX_PUT_BROADCAST,
    rule_ids::ONE_HOT_DEPTH,
    rule_ids::TENSOR_DATA,
];

/// Returns the source lines of all nodes and of the callers of those lines, by file.
fn lines(model: &Model, sources: &SourceFiles) -> BTreeMap<Arc<str>, BTreeSet<u32>> {
    let uses = Uses::new(model);
    let locator = Locator::new(model, &uses, sources);
    let mut seen: BTreeSet<(String, u32)> = BTreeSet::new();
    let mut lines: BTreeMap<Arc<str>, BTreeSet<u32>> = BTreeMap::new();
    for frame in model.nodes.ids().flat_map(|node| locator.frames(node)) {
        if seen.insert((frame.file.clone(), frame.line)) {
            let place = sources.frame_place(&frame);
            lines.entry(place.file).or_default().insert(place.line);
        }
    }
    lines
}
