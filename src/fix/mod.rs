//! The fix pipeline: fixes faults of a model, converts it to another opset, and optimizes it.
//!
//! Faults are fixed first, on the plain graph, because a fixed graph is not equivalent to the faulty one.
//! Then each graph of the model is rewritten in an e-graph, subgraphs first. Rules add equivalent e-nodes,
//! and extraction selects the cheapest ones that are legal at the target.

mod advice;
mod batched_scan;
mod branch_folding;
mod constants;
mod conversion_errors;
mod dedup_initializers;
mod duplicate_names;
mod dynamic;
mod fold;
mod initializers;
mod input_shapes;
mod interface;
pub mod options;
pub mod precision;
mod progress;
mod repair;
pub mod report;
mod rewrite;
mod size;
mod target;
mod value_info;
mod verify;

use rustc_hash::FxHashSet;

pub use options::{FixedShape, FreeDim, Options, Progress};
pub use report::Report;

use self::rewrite::rewrite;
use crate::diag::Finding;
use crate::diag::rule_ids::{DECIDED_BRANCH, DECLARED_TYPE, RELABELLED_VERSION, UNSORTED_NODES};
use crate::edit::inline;
use crate::edit::{AnalysisView, Change, Constants, Editor, Site};
use crate::extract::{Objective, Target};
use crate::graph::{Id, Model, ValueId, scopes};
use crate::infer;
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
/// All built-in rules are in [`RuleSet::patterns`]. Only exact and rounding rewrites are applied, unless
/// `options` allows unsafe ones.
pub fn fix(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let mut outcome = attempt(source, options, rules);
    advice::advise(&mut outcome, options, rules);
    outcome
}

/// Like [`fix`], but without advice about the lowest opset that works.
fn attempt(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let mut report = Report {
        opset: report::Step { from: source.opset(source.main, ""), to: source.opset(source.main, "") },
        ir_version: report::Step { from: source.ir_version, to: source.ir_version },
        nodes: report::Count::same(node_count(&source)),
        ..Report::default()
    };
    let mut editor = Editor::new(source.clone());
    // Facts of the input model: the passes start from them, and verification compares the result with them.
    let known = editor.analyses().facts.clone();
    let resolved = target::resolved(&source, options);
    let done = resolved.and_then(|options| passes(&mut editor, &options, rules, &mut report));
    if done.is_ok() && options.optimize && options.pricing.objective == Objective::Latency {
        value_info::tell(&mut editor, &source);
    }
    let looked_at = editor.looked_at();
    let refused =
        |report, findings| Outcome { model: source.clone(), report, findings, changed: false, looked_at };
    let kept = match done {
        Ok(kept) => kept,
        Err(findings) => return refused(report, findings),
    };
    let (model, done) = editor.into_parts();
    let changed = !done.changes.is_empty();
    options.progress.enter("checking the result");
    let faults = if changed { verify::verify((&source, &known), &model, kept) } else { Vec::new() };
    if !faults.is_empty() {
        return refused(report, faults);
    }
    report.tell(&source, &model, done);
    report.opset.to = model.opset(model.main, "");
    report.ir_version.to = model.ir_version;
    report.nodes.after = node_count(&model);
    Outcome { model, report, findings: Vec::new(), changed, looked_at }
}

/// Runs all passes in order. Returns the properties that verification must find preserved.
///
/// # Errors
/// Findings about requests that cannot be fulfilled.
fn passes(
    editor: &mut Editor,
    options: &Options,
    rules: &RuleSet,
    report: &mut Report,
) -> Result<verify::Kept, Vec<Finding>> {
    options.progress.enter("fixing");
    let from = editor.model().opset(editor.model().main, "");
    duplicate_names::rename(editor)?;
    dynamic::apply(editor, options, rules)?;
    input_shapes::apply(editor, options)?;
    if options.selection.contains(UNSORTED_NODES.code) {
        editor.put_in_order();
    }
    let before_weights = editor.done().changes.len();
    interface::withdraw(editor, options);
    let withdrawn = editor.done().changes.len() - before_weights;
    let mended = repair::mend(editor, options, rules);
    if mended.is_cut {
        report.limit("fixing stopped at its round limit: some faults may remain".to_owned());
    }
    let before_declarations = editor.done().changes.len();
    interface::mend(editor, options);
    let declared = withdrawn + editor.done().changes.len() - before_declarations;
    let decides = options.optimize && options.selection.contains(DECIDED_BRANCH.code);
    if decides {
        branch_folding::decide(editor);
    }
    let corrects = options.dynamic.is_empty() && editor.done().changes.len() > declared;
    if !options.dynamic.is_empty() {
        value_info::renew(editor);
    } else if corrects {
        value_info::correct(editor);
    }
    batched_scan::unbatch(editor, options.opset);
    let mut main_target = target::target(&editor.model().opsets, options.opset);
    let refusal = match conversion_errors::by_version(&main_target, options) {
        None if !target::has_functions(editor.model(), &main_target, options) => inline::inline(editor)
            .err()
            .map(|hindrance| conversion_errors::by_functions(editor.model(), hindrance)),
        finding => finding,
    };
    if let Some(finding) = refusal {
        return Err(vec![finding]);
    }
    editor.constants = constants_at(editor.model(), &main_target, options);
    options.progress.enter("folding constants");
    optimize_all(editor, options);
    for round in 1..=MAX_ROUNDS {
        options.progress.enter(&format!("optimizing, round {round}"));
        let before = node_count(editor.model());
        let (known, values) = (computable(editor), editor.model().values.len());
        let domains = target::used_domains(editor.model());
        let rewritten = rewrite(editor, options, rules, report)?;
        target::import_domains(editor, &domains, &mut main_target);
        // A decomposition may simplify further once its own facts are inferred.
        let is_longer = node_count(editor.model()) > before;
        relabel(editor, &main_target, options);
        editor.constants = constants_at(editor.model(), &main_target, options);
        let folded = optimize_all(editor, options);
        let is_decided = decides && (folded || rewritten.is_changed) && branch_folding::decide(editor);
        // Values that became constant in this round are not folded yet.
        let mut is_told = || {
            let mut new = computable(editor).into_iter().filter(|value| !known.contains(value));
            new.any(|value| value.index() < values)
        };
        let is_unsettled =
            rewritten.is_changed && (rewritten.is_within || rewritten.is_cut || is_longer || is_told());
        if !(folded || is_decided || is_unsettled) {
            break;
        }
    }
    // Initializers that become inputs may be replaced by a caller. This must come after constant folding.
    constants::lift_constants(editor, &main_target);
    constants::declare_initializers(editor);
    if corrects {
        // Later passes may have inferred more about these declarations.
        value_info::correct(editor);
    }
    if options.optimize {
        initializers::lift(editor);
    }
    if let Some(precision) = &options.precision {
        options.progress.enter("converting to 16 bits");
        report.narrowed = precision::narrow(editor, precision)?;
        report.to = Some(precision.to.name());
    }
    if !editor.done().changes.is_empty() {
        target::import_made(editor);
    }
    if options.infer_shapes {
        let facts = editor.analyses().facts.clone();
        let change = Change::new(DECLARED_TYPE, Site::Model, "inferred types and shapes declared");
        editor.declare(change, |model| infer::annotate(model, &facts));
    }
    if !main_target.is_source {
        let mut illegal = conversion_errors::illegal_nodes(editor.model());
        illegal.extend(conversion_errors::unlike_branches(editor, from));
        if !illegal.is_empty() {
            return Err(illegal);
        }
    }
    if !options.targets.is_empty() {
        target::drop_imports(editor);
        let refused = conversion_errors::by_targets(editor.analyses(), options);
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    let has_types = options.precision.as_ref().is_none_or(|precision| precision.keep_io);
    Ok(verify::Kept { types: has_types && !mended.is_changed })
}

/// Maximum number of rewrite rounds.
/// Another round follows if the last one enabled constant folding or branch folding, or if it may enable more rewrites:
/// by changed subgraphs, by decompositions, or because a limit stopped the e-graph before saturation.
const MAX_ROUNDS: usize = 4;

/// Removes dead nodes, folds constants and merges equal weights, if optimization is enabled.
/// Returns true if a node was removed or folded.
fn optimize_all(editor: &mut Editor, options: &Options) -> bool {
    if !options.optimize {
        return false;
    }
    let swept = editor.remove_dead_code();
    let folding = fold::Folding { limit: options.fold_limit, quantization: options.fold_qdq };
    let folded = fold::fold(editor, folding);
    dedup_initializers::share(editor);
    folded || swept
}

/// Returns the node outputs with known elements.
/// Their producers may remain, if they take less space in the file than the constant.
fn computable(editor: &mut Editor) -> FxHashSet<ValueId> {
    let AnalysisView { model, facts, .. } = editor.analyses();
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    let made = nodes.flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    made.filter(|&value| facts[value].as_const().is_some()).collect()
}

/// Returns the number of nodes in all reachable graphs.
fn node_count(model: &Model) -> usize {
    scopes::live(model).into_iter().map(|graph| model.graphs[graph].nodes.len()).sum()
}

/// Returns how constants are stored: as nodes if initializers must be inputs (before IR version 4).
fn constants_at(model: &Model, target: &Target, options: &Options) -> Constants {
    let are_inputs = constants::are_inputs(target::ir_version(model, target, options));
    if are_inputs { Constants::Nodes } else { Constants::Initializers }
}

/// Sets the opset imports and the IR version of the target.
fn relabel(editor: &mut Editor, target: &Target, options: &Options) {
    let ir_version = target::ir_version(editor.model(), target, options);
    let relabelled = |what| Change::new(RELABELLED_VERSION, Site::Model, what);
    editor.declare(relabelled("opset imports of the model updated"), |model| {
        std::mem::replace(&mut model.opsets, target.imports.clone()) != target.imports
    });
    editor.change(relabelled("IR version of the model updated"), |model, _| {
        std::mem::replace(&mut model.ir_version, ir_version) != ir_version
    });
    constants::lift_constants(editor, target);
    editor.change(relabelled("opset imports of functions updated"), |model, _| {
        let mut is_changed = false;
        for function in &mut model.functions {
            let imports = target::target(&function.opsets, options.opset).imports;
            is_changed |= function.opsets != imports;
            function.opsets = imports;
        }
        is_changed
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Fact;
    use crate::rules::rule::Expect;

    /// Returns the values whose incrementally updated facts differ from those of a new inference.
    /// Generated symbol names are ignored.
    fn disagreements(model: &Model, options: &Options, rules: &RuleSet) -> Vec<String> {
        let mut editor = Editor::new(model.clone());
        editor.analyses();
        if passes(&mut editor, options, rules, &mut Report::default()).is_err() {
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
