//! Linting of models: findings of detectors, of pattern rules, and about target runtimes.

mod pattern;
#[doc(hidden)]
pub mod picture;
mod targets;

#[doc(hidden)]
pub use crate::analyses::LintContext;
pub use crate::analyses::LintOptions;

use rustc_hash::FxHashSet;

use crate::analyses::locate::Part;
use crate::analyses::{detected, dynamic};
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::graph::syntax::TextSpans;
use crate::graph::uses::Uses;
use crate::graph::{Id as _, Model, NodeId};
use crate::infer;

/// Returns the findings of `model` that `options` select, and those about `options.dynamic`.
///
/// The result is deterministic. Large weights are not read, except constants that a rule tests for equal elements.
///
/// Findings do not name the file of the model. Findings of the reader come from [`crate::open`]; findings
/// of the Python sources come from `evidence::lint`, with the feature `evidence`.
pub fn lint_model(model: &Model, options: &LintOptions) -> Vec<Finding> {
    lint_text(model, None, options)
}

/// Lints a model that was parsed from ONNX text: findings have the lines and columns of `spans`.
pub fn lint_text(model: &Model, spans: Option<&TextSpans>, options: &LintOptions) -> Vec<Finding> {
    let uses = Uses::new(model);
    let facts = infer::infer(model, infer::Options::default());
    let cx = LintContext::new(model, &facts, &uses, options).within(spans);
    let mut findings = detected(&cx);
    pattern::run(&cx, &options.rules, &mut findings);
    findings.extend(targets::findings(&cx));
    findings.retain(|finding| options.selection.contains(&finding.code));
    findings.extend(dynamic::detect(&cx));
    drop_outranked(&mut findings);
    findings.iter_mut().for_each(|finding| locate_in_text(finding, &cx));
    findings
}

/// Drops SHP001 and SPC036 at a node for which a rule with better advice reports an error.
fn drop_outranked(findings: &mut Vec<Finding>) {
    let node_of =
        |finding: &Finding| finding.place.graph().map(|graph| (graph.graph.clone(), graph.position));
    let is_better = |finding: &&Finding| {
        finding.level == Level::Error && ["IDX", "QDQ"].iter().any(|family| finding.code.starts_with(family))
    };
    let better: FxHashSet<_> = findings.iter().filter(is_better).filter_map(node_of).collect();
    if better.is_empty() {
        return;
    }
    let is_general =
        |code: &str| [rule_ids::SHAPE_MISMATCH, rule_ids::BAD_VALUE].iter().any(|rule| rule.code == code);
    findings.retain(|finding| {
        !is_general(&finding.code) || node_of(finding).is_none_or(|node| !better.contains(&node))
    });
}

/// Adds the place in the text to a finding without one, from the first node of the finding.
fn locate_in_text(finding: &mut Finding, cx: &LintContext) {
    if let Place::Graph(graph) = &mut finding.place
        && graph.at.is_none()
        && let Some(&number) = finding.nodes.first()
        && cx.model.nodes.len() > number as usize
        && let Place::Graph(whole) = cx.places.node(NodeId::from_index(number as usize), Part::Whole)
    {
        graph.at = whole.at;
    }
}
