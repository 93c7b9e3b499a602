//! The fix pipeline: fixes faults of a model, converts it to another opset, and optimizes it.
//!
//! Faults are fixed first, on the plain graph, because a fixed graph is not equivalent to the faulty one.
//! After the fixes, each graph of the model is rewritten in an e-graph, subgraphs first. Rules add
//! equivalent e-nodes, and extraction selects the cheapest ones that are legal at the target.

mod advice;
mod checks;
mod context;
mod declarations;
mod errors;
mod kernels;
pub mod options;
mod pass;
mod passes;
mod pipeline;
mod postconditions;
pub mod precision;
mod progress;
mod record;
pub mod report;
mod scatter;
mod search;
mod size;
mod subgraphs;
mod target;
mod writer;

pub use options::{FixedShape, FreeDim, Options, Progress};
#[doc(hidden)]
pub use pipeline::is_required;
pub use postconditions::undefined_uses;
pub use report::Report;

use self::context::Context;
use self::postconditions::Kept;
use crate::diag::Finding;
use crate::edit::Editor;
use crate::graph::Model;
use crate::rules::registry::RuleSet;

/// Result of fixing a model.
#[derive(Debug)]
pub struct Outcome {
    /// The fixed model; the input model if it could not be fixed.
    pub model: Model,
    /// Applied changes, per rule, and the model size before and after.
    pub report: Report,
    /// Reasons why a request failed. Findings at level error are blockers: no file may be written.
    pub findings: Vec<Finding>,
    /// Whether `model` differs from the input model.
    pub changed: bool,
    /// Number of node inferences, excluding verification.
    pub looked_at: usize,
}

/// Fixes, converts and optimizes `source` according to `options`, with the given rules.
///
/// [`RuleSet::patterns`] has all built-in rules except previews. Only exact and rounding rewrites are
/// applied, unless `options` allows unsafe ones.
pub fn fix(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let attempt = |model: Model, options: &Options| attempt(model, options, rules);
    let mut outcome = attempt(source, options);
    advice::advise(&mut outcome, options, &attempt);
    outcome
}

/// Like [`fix`], but without advice about the lowest opset that works.
fn attempt(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let mut editor = Editor::new(source.clone());
    // Facts of the input model: the passes start from them, and verification compares the result with them.
    let known = editor.analyses().facts.clone();
    let mut cx = Context::new(&source, options, rules);
    let done = pipeline::run(&mut editor, &mut cx);
    let looked_at = editor.looked_at();
    let (model, changes) = editor.into_parts();
    let changed = !changes.changes.is_empty();
    let checked = done.and_then(|()| {
        cx.options.progress.enter("checking the result");
        let faults =
            if changed { postconditions::verify((&source, &known), &model, kept(&cx)) } else { Vec::new() };
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    });
    let Context { mut report, record, .. } = cx;
    match checked {
        Ok(()) => {
            report.tell(&source, &model, changes, &record);
            Outcome { model, report, findings: Vec::new(), changed, looked_at }
        }
        Err(findings) => Outcome { model: source, report, findings, changed: false, looked_at },
    }
}

/// Returns the properties that the passes must have preserved.
fn kept(cx: &Context) -> Kept {
    let has_types = cx.options.precision.as_ref().is_none_or(|precision| precision.keep_io);
    Kept { types: has_types && !cx.is_repaired }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::AnalysisView;
    use crate::graph::scopes;
    use crate::infer::{self, Fact};
    use crate::rules::rule::Expect;

    /// Returns the values whose incrementally updated facts or uses differ from newly computed ones.
    /// Shapes count as different only if their ranks differ, or if they contradict each other.
    fn disagreements(model: &Model, options: &Options, rules: &RuleSet) -> Vec<String> {
        let mut editor = Editor::new(model.clone());
        editor.analyses();
        if pipeline::run(&mut editor, &mut Context::new(model, options, rules)).is_err() {
            return Vec::new();
        }
        let found = infer::infer(editor.model(), infer::Options::default());
        let AnalysisView { model, facts, uses } = editor.analyses();
        let counted = crate::graph::uses::Uses::new(model);
        let live = scopes::live(model);
        let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let values = nodes.flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
        let are_elements = |a: &Fact, b: &Fact| match (a.as_const(), b.as_const()) {
            (Some(a), Some(b)) => infer::same_bits(a, b),
            (a, b) => a.is_none() == b.is_none(),
        };
        let same = |a: &Fact, b: &Fact| {
            a.elem() == b.elem()
                && a.rank() == b.rank()
                && are_elements(a, b)
                && a.meet(b, &found.bounds).is_ok()
        };
        let wrong = values.filter(|&value| {
            !same(&facts[value], &found[value]) || uses.count(value) != counted.count(value)
        });
        wrong
            .map(|value| format!("{}: {}, not {}", model.values[value].name, facts[value], found[value]))
            .collect()
    }

    #[test]
    fn incremental_facts_equal_those_of_a_new_inference() {
        let (rules, _) = RuleSet::embedded();
        let mut wrong = Vec::new();
        for rule in rules.iter() {
            for example in rule.examples.iter().filter(|example| !matches!(example.expect, Expect::NoMatch)) {
                let options = Options { opset: example.target, unsafe_fixes: true, ..Options::default() };
                let found = disagreements(&example.model, &options, &rules);
                wrong.extend(
                    found.into_iter().map(|what| format!("{} {:?}: {what}", rule.code, example.name)),
                );
            }
        }
        assert!(wrong.is_empty(), "{} facts:\n{}", wrong.len(), wrong.join("\n"));
    }
}
