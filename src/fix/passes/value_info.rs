//! Corrects declared types and shapes that repairs have made stale.

use super::{interface, withdraw_weights};
use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::Editor;
use crate::fix::context::Context;
use crate::fix::declarations::{declare_outputs, take_back};
use crate::fix::pass::{Need, Pass};
use crate::fix::record::PassRun;

/// The pass.
pub const PASS: Pass = Pass {
    id: "value-info",
    summary: "Corrects declared types and shapes that changed.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| cx.options.dynamic.is_empty(),
    run: |editor, cx| Ok(run(editor, cx)),
};

/// Passes that change only declarations, and no value.
const DECLARING: [&str; 2] = [withdraw_weights::PASS.id, interface::PASS.id];

/// Corrects declarations, if they may be stale; returns true if one was corrected.
fn run(editor: &mut Editor, cx: &mut Context) -> bool {
    // Whether types are stale is decided in the first run, because rewriting keeps declarations valid.
    let is_change = |run: &PassRun| run.changes > 0 && !DECLARING.contains(&run.id);
    let is_changed = cx.record.passes().iter().any(is_change);
    let before = editor.done().changes.len();
    if *cx.has_stale_types.get_or_insert(is_changed) {
        correct(editor);
    }
    editor.done().changes.len() > before
}

/// Removes `value_info` that no longer holds, because fixes may change types and shapes.
/// The outputs of the model get their inferred types.
fn correct(editor: &mut Editor) {
    take_back(editor, DECLARED_TYPE);
    declare_outputs(editor, editor.model().main, &|_| true);
}
