//! A pass of the pipeline, as data.

use super::context::Context;
use crate::diag::rule_ids::DEAD_NODE;
use crate::diag::{Finding, RuleId};
use crate::edit::Editor;
use crate::rules::rule::Phase;

/// A transformation of the model.
pub struct Pass {
    /// Name in reports: `constant-folding`.
    pub id: &'static str,
    /// Effect of the pass, in one sentence.
    pub summary: &'static str,
    /// Codes of the changes that the pass makes without rules.
    pub codes: &'static [RuleId],
    /// Phases of the rules that the pass applies; changes by rules have the codes of the rules.
    pub phases: &'static [Phase],
    /// Whether `--select` and `--ignore` can disable the pass.
    pub need: Need,
    /// Returns true if the options request the pass.
    pub is_enabled: fn(&Context) -> bool,
    /// Changes the model; returns true if it changed.
    ///
    /// # Errors
    /// Findings about requests that cannot be fulfilled.
    pub run: fn(&mut Editor, &mut Context) -> Result<bool, Vec<Finding>>,
}

/// Effect of `--select` and `--ignore` on a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The pass runs only if one of its codes is selected.
    Optional,
    /// The pass always runs: a valid model, or an option, requires its changes.
    Required,
    /// The pass always runs, but makes only changes that are selected.
    ByCode,
}

impl Pass {
    /// Runs the pass if the options request it, and if it is required or selected.
    /// Returns true if the pass changed the model.
    pub fn apply(&self, editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
        let is_selected = self.need != Need::Optional || self.codes.iter().any(|&code| cx.selects(code));
        if !is_selected || !(self.is_enabled)(cx) {
            return Ok(false);
        }
        let before = editor.done().changes.len();
        let changed = (self.run)(editor, cx)?;
        let changes = &editor.done().changes;
        cx.record.ran(self.id, self.summary, changes.len());
        debug_assert!(
            changes[before..].iter().all(|change| self.may_make(&change.by.code, cx)),
            "the pass {} made a change with a code that it does not list",
            self.id
        );
        Ok(changed)
    }

    /// Returns true if a change of the pass may have this code.
    fn may_make(&self, code: &str, cx: &Context) -> bool {
        let is_of_phase = || cx.rules.get(code).is_some_and(|rule| self.phases.contains(&rule.phase));
        // The editor removes nodes that a patch leaves unused.
        code == DEAD_NODE.code || self.codes.iter().any(|own| own.code == code) || is_of_phase()
    }
}
