//! Inlines local functions if the model is converted to an IR version that does not support them.

use crate::diag::Finding;
use crate::diag::rule_ids::INLINED_FUNCTION;
use crate::edit::Editor;
use crate::edit::inline;
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::fix::{errors, target};

/// The pass.
pub const PASS: Pass = Pass {
    id: "inline-functions",
    summary: "Inlines local functions on conversion to an IR version before 8, which has no functions.",
    codes: &[INLINED_FUNCTION],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run,
};

fn run(editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
    if target::has_functions(editor.model(), &cx.target, &cx.options) {
        return Ok(false);
    }
    match inline::inline(editor) {
        Ok(()) => Ok(true),
        Err(hindrance) => Err(vec![errors::by_functions(editor.model(), hindrance)]),
    }
}
