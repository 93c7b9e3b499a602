//! Mends faults on the plain graph: what a rule of the phase `fix` matches is replaced, where its fault was found.
//!
//! This is no e-graph's work: a mended graph is not equal to the faulty one, and the faulty form must
//! not be chosen again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::Options;
use crate::diag::Selection;
use crate::edit::{AnalysisView, Editor, Patch};
use crate::graph::Model;
use crate::lint::suggestions::{Suggestion, mends};
use crate::lint::{LintContext, LintOptions, detected};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Rounds of mending: a fix may bring another fault to light, node by node along a chain, but must not go
/// on for ever.
const ROUNDS: usize = 32;

/// What came of mending.
#[derive(Default)]
pub struct Repaired {
    pub is_changed: bool,
    /// There may be more to mend.
    pub is_cut: bool,
}

/// Applies the selected fixes until none fits.
pub fn mend(editor: &mut Editor, options: &Options, rules: &RuleSet) -> Repaired {
    let wanted = |rule: &&Rule| {
        !rule.is_lint_only()
            && rule.is_selected(&options.selection)
            && (rule.safety != Safety::Unsafe || options.unsafe_fixes)
    };
    let within_reach = rules.within_reach(operators(editor.model()), &[Phase::Fix]);
    let fixes: Vec<&Rule> = within_reach.into_iter().filter(wanted).collect();
    let mut mended = Repaired::default();
    if fixes.is_empty() {
        return mended;
    }
    let linting = faults_of(&fixes);
    for _ in 0..ROUNDS {
        let patches = planned(editor.analyses(), &linting, &fixes);
        if editor.apply(patches) == 0 {
            return mended;
        }
        mended.is_changed = true;
    }
    Repaired { is_cut: true, ..mended }
}

/// What is to be found for these rules: the faults that they mend.
fn faults_of(fixes: &[&Rule]) -> LintOptions {
    let codes: FxHashSet<&str> = fixes.iter().filter_map(|rule| rule.mends.as_deref()).collect();
    let selection = Selection::new(codes.into_iter().map(str::to_owned).collect(), Vec::new());
    LintOptions { selection, rules: Arc::default(), ..LintOptions::default() }
}

/// The operators of a model, and those that getting around missing types takes.
pub(super) fn operators(model: &Model) -> FxHashSet<Arc<str>> {
    let own = model.nodes.iter().map(|(_, node)| node.op_type.clone());
    own.chain([Arc::from("Cast")]).collect()
}

/// The patches of one round: just those by which `onnx-lint` says that a finding is fixable.
fn planned(known: AnalysisView, linting: &LintOptions, fixes: &[&Rule]) -> Vec<Patch> {
    let cx = LintContext::new(known.model, known.facts, known.uses, linting);
    let findings = detected(&cx);
    let mends = mends(&cx, fixes, &findings);
    // A finding that names several nodes is mended at all of them, if it is at the one that it points at.
    let mut is_promised: FxHashMap<usize, bool> = FxHashMap::default();
    for Suggestion { finding, is_at_place, .. } in &mends {
        if let Some(finding) = *finding {
            *is_promised.entry(finding).or_default() |= is_at_place;
        }
    }
    let is_due = |mend: &Suggestion| mend.finding.is_none_or(|finding| is_promised[&finding]);
    mends.into_iter().filter(is_due).map(|mend| mend.patch).collect()
}
