//! Fixes faults on the plain graph: applies the rules of the phase `fix` where their fault was found.
//!
//! Faults are fixed outside the e-graph, because the fixed graph is not equivalent to the faulty one, and
//! extraction must not select the faulty one again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analyses::repairs::{REPAIRED, is_wanted, repairs};
use crate::analyses::suggestions::{Suggestion, mends};
use crate::analyses::{LintContext, LintOptions, detected};
use crate::diag::Selection;
use crate::diag::rule_ids::{
    BODY_SIGNATURE, CONVERTED_NODE, DECLARED_SHAPE_WRONG, DYNAMIC_AXIS, INSERTED_CAST,
};
use crate::edit::{AnalysisView, Editor, Patch};
use crate::fix::context::Context;
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::fix::subgraphs;
use crate::graph::Model;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Maximum number of rounds. A fix may expose another fault, for example along a chain of nodes.
const ROUNDS: usize = 32;

/// Result of fixing faults.
#[derive(Default)]
struct Repaired {
    /// Whether a fix was applied.
    is_changed: bool,
    /// Whether the round limit was reached, so that faults may remain.
    is_cut: bool,
}

/// The pass.
pub const PASS: Pass = Pass {
    id: "repair",
    summary: "Fixes faults by rules and built-in repairs, and makes baked-in sizes dynamic by batching.",
    codes: &[DYNAMIC_AXIS, INSERTED_CAST, CONVERTED_NODE, BODY_SIGNATURE, DECLARED_SHAPE_WRONG],
    phases: &[Phase::Fix],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, cx| Ok(run(editor, cx)),
};

/// Fixes faults; returns true if one was fixed.
fn run(editor: &mut Editor, cx: &mut Context) -> bool {
    let repaired = mend(editor, &cx.options, cx.rules);
    if repaired.is_cut {
        cx.report.limit("fixing stopped at its round limit: some faults may remain".to_owned());
    }
    cx.is_repaired = repaired.is_changed;
    repaired.is_changed
}

/// Applies the selected fixes until none matches, or until the round limit.
fn mend(editor: &mut Editor, options: &Options, rules: &RuleSet) -> Repaired {
    let wanted = |rule: &&Rule| {
        !rule.is_lint_only()
            && rule.is_selected(&options.selection)
            && (rule.safety != Safety::Unsafe || options.unsafe_fixes)
    };
    let within_reach = rules.within_reach(operators(editor.model()), &[Phase::Fix], None);
    let fixes: Vec<&Rule> = within_reach.into_iter().filter(wanted).collect();
    let mut mended = Repaired::default();
    let linting = faults_of(&fixes, &options.selection);
    for _ in 0..ROUNDS {
        let patches = planned(editor.analyses(), &linting, &fixes);
        if editor.apply(patches) == 0 && !subgraphs::mend(editor, options) {
            return mended;
        }
        mended.is_changed = true;
    }
    Repaired { is_cut: true, ..mended }
}

/// Returns lint options that find the faults that these rules and the built-in repairs fix.
fn faults_of(fixes: &[&Rule], selected: &Selection) -> LintOptions {
    let of_rules = fixes.iter().filter_map(|rule| rule.fixes.as_deref());
    let built_in = REPAIRED.iter().filter(|(fault, pass)| is_wanted(selected, fault, pass));
    let built_in = built_in.map(|&(fault, _)| fault);
    let codes: FxHashSet<&str> = of_rules.chain(built_in).collect();
    let selection = Selection::new(codes.into_iter().map(str::to_owned).collect(), Vec::new());
    LintOptions { selection, rules: Arc::default(), ..LintOptions::default() }
}

/// Returns the operators of a model, and `Cast`, which rewrites insert for unsupported types.
pub fn operators(model: &Model) -> FxHashSet<Arc<str>> {
    let own = model.nodes.iter().map(|(_, node)| node.op_type.clone());
    own.chain([Arc::from("Cast")]).collect()
}

/// Returns the patches of one round: the fixes that `onnx-lint` announces with its findings.
fn planned(known: AnalysisView, linting: &LintOptions, fixes: &[&Rule]) -> Vec<Patch> {
    let cx = LintContext::new(known.model, known.facts, known.uses, linting);
    let findings = detected(&cx);
    let mends = mends(&cx, fixes, &findings);
    // A finding on several nodes is fixed at all of them if it is fixable at its primary location.
    let mut is_promised: FxHashMap<usize, bool> = FxHashMap::default();
    for Suggestion { finding, is_at_place, .. } in &mends {
        if let Some(finding) = *finding {
            *is_promised.entry(finding).or_default() |= is_at_place;
        }
    }
    let is_due = |mend: &Suggestion| mend.finding.is_none_or(|finding| is_promised[&finding]);
    let mut patches: Vec<Patch> = mends.into_iter().filter(is_due).map(|mend| mend.patch).collect();
    let is_free = |patch: &Patch| {
        let at: Vec<_> = patch.nodes.iter().flat_map(|node| node.origin.iter().copied()).collect();
        !patches.iter().any(|other| other.replaced.iter().any(|node| at.contains(node)))
    };
    let own: Vec<Patch> = repairs(&cx, &findings).into_iter().filter(is_free).collect();
    patches.extend(own);
    patches
}
