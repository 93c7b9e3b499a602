//! The pipeline: all passes of `onnx-fix`, in order.

use rustc_hash::FxHashSet;

use super::checks::{check_legality, check_targets, resolve_opset, resolve_target};
use super::context::{Context, Round};
use super::pass::{Need, Pass};
use super::passes::{
    batched_scan, branch_folding, constant_folding, constants_to_initializers, dead_code, declare_facts,
    declare_initializers, dedup_initializers, default_attributes, drop_imports, duplicate_names, dynamic,
    import_domains, import_opset, infer_shapes, inline_functions, input_shapes, interface, lift_constants,
    looped_reduction, node_names, precision, relabel_opset, renew_types, repair, rewrite, sort_nodes,
    unify_functions, unused_functions, unused_initializers, value_info, withdraw_facts, withdraw_weights,
};
use super::target;
use crate::diag::Finding;
use crate::edit::{AnalysisView, Editor};
use crate::graph::{Id, ValueId, scopes};

/// Step of the pipeline.
pub enum Stage {
    /// Start of a phase, for progress displays.
    Phase(&'static str),
    /// A pass, applied once.
    Once(&'static Pass),
    /// Passes that are applied in rounds, until no further round is expected to improve the model.
    Rounds(&'static [&'static Pass]),
    /// A check that rejects the model, or prepares the context.
    Check(fn(&mut Editor, &mut Context) -> Result<(), Vec<Finding>>),
}

/// All stages, in order.
pub const PIPELINE: &[Stage] = &[
    Stage::Check(resolve_opset),
    Stage::Phase("fixing"),
    Stage::Once(&duplicate_names::PASS),
    Stage::Once(&node_names::PASS),
    Stage::Once(&default_attributes::PASS),
    Stage::Once(&dynamic::PASS),
    Stage::Once(&input_shapes::PASS),
    Stage::Once(&sort_nodes::PASS),
    Stage::Once(&withdraw_weights::PASS),
    Stage::Once(&repair::PASS),
    Stage::Once(&unify_functions::PASS),
    Stage::Once(&interface::PASS),
    Stage::Once(&branch_folding::PASS),
    Stage::Once(&renew_types::PASS),
    Stage::Once(&value_info::PASS),
    Stage::Once(&batched_scan::PASS),
    Stage::Check(resolve_target),
    Stage::Once(&inline_functions::PASS),
    Stage::Phase("folding constants"),
    Stage::Once(&dead_code::PASS),
    Stage::Once(&unused_initializers::PASS),
    Stage::Once(&constant_folding::PASS),
    Stage::Once(&constants_to_initializers::PASS),
    Stage::Once(&dedup_initializers::PASS),
    Stage::Once(&looped_reduction::PASS),
    Stage::Rounds(&[
        &rewrite::PASS,
        &import_domains::PASS,
        &relabel_opset::PASS,
        &lift_constants::PASS,
        &dead_code::PASS,
        &unused_initializers::PASS,
        &constant_folding::PASS,
        &dedup_initializers::PASS,
        &branch_folding::PASS,
    ]),
    // Constant folding does not read initializers that are also inputs, so these passes must follow it.
    Stage::Once(&lift_constants::PASS),
    Stage::Once(&declare_initializers::PASS),
    // Inference during the rewrites may have revealed further stale declarations.
    Stage::Once(&value_info::PASS),
    Stage::Once(&constants_to_initializers::PASS),
    Stage::Once(&precision::PASS),
    Stage::Once(&import_opset::PASS),
    Stage::Once(&infer_shapes::PASS),
    Stage::Once(&unused_functions::PASS),
    Stage::Check(check_legality),
    Stage::Once(&drop_imports::PASS),
    Stage::Check(check_targets),
    Stage::Once(&declare_facts::PASS),
    Stage::Once(&withdraw_facts::PASS),
];

/// Maximum number of rewrite rounds.
const MAX_ROUNDS: usize = 4;

/// Passes whose changes may enable further rewrites.
const REDUCING: [&str; 4] =
    [dead_code::PASS.id, unused_initializers::PASS.id, constant_folding::PASS.id, branch_folding::PASS.id];

/// Returns all passes, each once, in the order of their first runs.
pub fn passes() -> Vec<&'static Pass> {
    let mut passes: Vec<&Pass> = Vec::new();
    for stage in PIPELINE {
        let of_stage = match stage {
            Stage::Once(pass) => std::slice::from_ref(pass),
            Stage::Rounds(passes) => passes,
            Stage::Phase(_) | Stage::Check(_) => &[],
        };
        for pass in of_stage {
            if !passes.iter().any(|known| known.id == pass.id) {
                passes.push(pass);
            }
        }
    }
    passes
}

/// Returns true if changes with this code cannot be ignored.
///
/// A required change is necessary for a valid result, or is requested by an option.
pub fn is_required(code: &str) -> bool {
    let mut making =
        passes().into_iter().filter(|pass| pass.codes.iter().any(|own| own.code == code)).peekable();
    making.peek().is_some() && making.all(|pass| pass.need == Need::Required)
}

/// Runs all stages.
///
/// # Errors
/// Findings about requests that cannot be fulfilled.
pub fn run(editor: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    for stage in PIPELINE {
        match stage {
            Stage::Phase(phase) => cx.options.progress.enter(phase),
            Stage::Once(pass) => drop(pass.apply(editor, cx)?),
            Stage::Rounds(passes) => run_rounds(passes, editor, cx)?,
            Stage::Check(check) => check(editor, cx)?,
        }
    }
    Ok(())
}

/// Runs at most [`MAX_ROUNDS`] rounds, while the last one reduced the model or may enable rewrites.
fn run_rounds(passes: &[&Pass], editor: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    for round in 1..=MAX_ROUNDS {
        cx.options.progress.enter(&format!("optimizing, round {round}"));
        let (known, values) = (computable(editor), editor.model().values.len());
        cx.round = Some(Round { domains: target::used_domains(editor.model()), ..Round::default() });
        for pass in passes {
            let is_reduced = pass.apply(editor, cx)? && REDUCING.contains(&pass.id);
            if let Some(round) = &mut cx.round {
                round.is_reduced |= is_reduced;
            }
        }
        // Values that became constant in this round are not folded yet.
        let mut has_new_constants = || {
            let mut new = computable(editor).into_iter().filter(|value| !known.contains(value));
            new.any(|value| value.index() < values)
        };
        let continues = cx.round.as_ref().is_some_and(|Round { rewritten, is_reduced, .. }| {
            *is_reduced || rewritten.is_changed && (rewritten.is_unsettled() || has_new_constants())
        });
        if !continues {
            break;
        }
    }
    Ok(())
}

/// Returns the node outputs with known elements.
/// Rewriting keeps the producer of a known output if it takes less space in the file than the constant.
fn computable(editor: &mut Editor) -> FxHashSet<ValueId> {
    let AnalysisView { model, facts, .. } = editor.analyses();
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    let made = nodes.flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    made.filter(|&value| facts[value].as_const().is_some()).collect()
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::diag::Selection;
    use crate::diag::rule_ids;
    use crate::edit::Kind;
    use crate::fix::passes::testing::model;
    use crate::fix::{Options, Outcome, fix};
    use crate::rules::registry::RuleSet;

    #[test]
    fn passes_have_distinct_ids_and_summaries_and_codes() {
        let passes = passes();
        let ids: FxHashSet<&str> = passes.iter().map(|pass| pass.id).collect();
        assert_eq!(ids.len(), passes.len());
        for pass in passes {
            assert!(pass.summary.ends_with('.') && pass.summary.len() <= 100, "{}", pass.id);
            assert!(!pass.codes.is_empty() || !pass.phases.is_empty(), "{} has no codes", pass.id);
        }
    }

    /// Every code of a change other than a repair belongs to a pass, except `EQUAL_INITIALIZERS`.
    ///
    /// Merging equal initializers is recorded with another code.
    #[test]
    fn codes_of_changes_belong_to_passes() {
        let owned: FxHashSet<&str> = passes().iter().flat_map(|pass| pass.codes).map(|id| id.code).collect();
        let changing = rule_ids::ALL.iter().filter(|id| Kind::from(**id) != Kind::Repaired);
        let missing: Vec<&str> = changing.map(|id| id.code).filter(|code| !owned.contains(code)).collect();
        assert_eq!(missing, [rule_ids::EQUAL_INITIALIZERS.code]);
    }

    /// Fixes a graph, but ignores changes with the code `ignored`.
    fn fixed(graph: &str, ignored: Option<&str>) -> Outcome {
        let selection = Selection::all().ignoring(ignored.map(str::to_owned));
        fix(model(graph), &Options { selection, ..Options::default() }, &RuleSet::patterns())
    }

    #[track_caller]
    fn check(graph: &str, pass: &str, code: &str) {
        let made = fixed(graph, None).report;
        assert!(made.changes.iter().any(|change| change.code == code && change.pass == pass), "{made:#?}");
        let left = fixed(graph, Some(code));
        assert!(left.findings.is_empty(), "{:?}", left.findings);
        assert!(!left.report.rules.contains_key(code), "{:#?}", left.report);
    }

    fn weights(times: usize) -> String {
        vec!["2"; times].join(",")
    }

    #[test]
    fn ignored_optimizations_do_not_run() {
        check("g (float[N] x) => (float[N] y) { y = Abs (x)  dead = Neg (x) }", "dead-code", "OPT001");
        check(
            "g (float[N] x) => (float[N] y) <float[1] w = {1}> { y = Abs (x) }",
            "unused-initializers",
            "OPT002",
        );
        check(
            "g (float[N] x) => (float[N] y) {
                c = Constant <value = bool { 1 }> ()
                y = If (c) <then_branch = t () => (a) { a = Abs (x) }, else_branch = e () => (b) { b = Neg (x) }>
            }",
            "branch-folding",
            "OPT004",
        );
        check(
            "g (float[64,64] x) => (float[64,64] y) {
                s = Constant <value_ints = [64, 64]> ()  l = ConstantOfShape (s)
                t = Transpose (l)  y = Add (x, t)
            }",
            "constant-folding",
            "OPT005",
        );
        check(
            "g (float[N] x) => (float[N] y) <float[1] w = {1}> { n = Neg (w)  y = Pow (x, n) }",
            "rewrite",
            "OPT005",
        );
        check(
            "g (float[N] x) => (float[N] y, float[N] z) { a = Abs (x)  b = Abs (x)  y = Sin (a)  z = Cos (b) }",
            "rewrite",
            "OPT006",
        );
        check(
            "g (float[1,1,8] x) => (float[1,1,7] y) { y, i = MaxPool <kernel_shape = [2]> (x) }",
            "rewrite",
            "OPT007",
        );
        check(
            "g (float[N] x) => (float[N] y) { c = Constant <value_float = 3.5> ()  y = Pow (x, c) }",
            "constants-to-initializers",
            "OPT008",
        );
        check(
            &format!(
                "g (float[2048] x) => (float[2048] y, float[2048] z)
                <float[2048] w = {{{0}}}, float[2048] v = {{{0}}}> {{ y = Add (x, w)  z = Mul (x, v) }}",
                weights(2048)
            ),
            "dedup-initializers",
            "OPT009",
        );
    }

    #[test]
    fn only_codes_of_required_passes_cannot_be_ignored() {
        let codes =
            ["CVT002", "CVT004", "FIX005", "OPT001", "OPT004", "OPT006", "FIX004", "EXP015", "OPT101"];
        let required: Vec<&str> = codes.into_iter().filter(|code| is_required(code)).collect();
        assert_eq!(required, ["CVT002", "CVT004", "FIX005"]);
    }

    #[test]
    fn passes_that_are_not_selected_do_not_run() {
        let graph = "g (float[N] x) => (float[N] y) { y = Abs (x)  dead = Neg (x) }";
        let selection = Selection::new(vec!["OPT002".to_owned()], Vec::new());
        let options = Options { selection, ..Options::default() };
        let outcome = fix(model(graph), &options, &RuleSet::patterns());
        assert!(!outcome.changed, "{:#?}", outcome.report);
    }

    #[test]
    fn a_conversion_runs_ignored_passes_that_it_requires() {
        let graph = "g (float[N] x) => (float[N] y) { y = Abs (x) }";
        let selection = Selection::all().ignoring(["CVT004".to_owned()]);
        let options = Options { selection, opset: Some(13), ..Options::default() };
        let report = fix(model(graph), &options, &RuleSet::patterns()).report;
        let made = report.passes.iter().find(|run| run.id == "relabel-opset");
        assert!(made.is_some_and(|run| run.changes > 0), "{:#?}", report.passes);
    }
}
