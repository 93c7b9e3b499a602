//! Converts local functions to the opset of the model.
//!
//! A function may import a different opset, but ONNX Runtime checks its nodes against the opset of the model.

use super::{relabel_opset, rewrite};
use crate::analyses::repairs::{functions_of_other_opset, is_wanted};
use crate::diag::Finding;
use crate::diag::rule_ids::{
    ADAPTED_FORM, CONSTANT_RESULT, CONVERTED_NODE, DEAD_NODE, FUNCTION_OPSET, RELABELLED_VERSION,
    REPEATED_NODE, UNUSED_OUTPUT,
};
use crate::edit::Editor;
use crate::fix::context::Context;
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::fix::target;
use crate::rules::rule::Phase;

/// The pass.
pub const PASS: Pass = Pass {
    id: "unify-functions",
    summary: "Converts local functions whose nodes are invalid or mean something else at the model's opset.",
    codes: &[RELABELLED_VERSION, ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT],
    phases: &[Phase::Convert],
    need: Need::Required,
    is_enabled: |cx| is_wanted(&cx.options.selection, FUNCTION_OPSET.code, CONVERTED_NODE.code),
    run,
};

/// Converts the local functions to the opset of the model.
///
/// # Errors
/// Nodes without an equivalent at the opset of the model.
fn run(editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
    if functions_of_other_opset(editor.model()).is_empty() {
        return Ok(false);
    }
    let opset = editor.model().opset(editor.model().main, "");
    let own = Options { opset, optimize: false, targets: Vec::new(), ..cx.options.clone() };
    let given = std::mem::replace(&mut cx.options, own);
    let target = std::mem::replace(&mut cx.target, target::target(&editor.model().opsets, opset));
    let done = rewrite::rewrite(editor, cx).map(|_| relabel_opset::relabel(editor, cx));
    cx.options = given;
    cx.target = target;
    done?;
    Ok(true)
}
