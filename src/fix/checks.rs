//! Checks between passes: they resolve the target, or reject the model.

use super::context::Context;
use super::{errors, target};
use crate::diag::Finding;
use crate::edit::Editor;

/// Selects an opset that all target runtimes support.
///
/// # Errors
/// No opset is supported by all target runtimes, or one of them does not support the requested opset or
/// IR version.
pub fn resolve_opset(_: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    cx.options.opset = target::resolved(cx.source, &cx.options)?;
    Ok(())
}

/// Resolves the target with the current imports of the model.
///
/// A model that does not import ai.onnx is not converted.
///
/// # Errors
/// An opset is requested, but it is unknown.
pub fn resolve_target(editor: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    cx.target = target::target(&editor.model().opsets, cx.options.opset);
    if let Some(finding) = errors::by_version(&cx.options) {
        return Err(vec![finding]);
    }
    if cx.options.opset.is_some() && cx.target.opset("").is_none() {
        cx.report.note("the model does not import ai.onnx: there is no opset to convert".to_owned());
    }
    editor.constants = cx.constants_of(editor.model());
    Ok(())
}

/// Checks that a converted model is legal at the target opset.
///
/// # Errors
/// One finding for each illegal node.
pub fn check_legality(editor: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    if cx.target.is_source {
        return Ok(());
    }
    let mut illegal = errors::illegal_nodes(editor.model());
    illegal.extend(errors::unlike_branches(editor, cx.source.opset(cx.source.main, "")));
    if illegal.is_empty() { Ok(()) } else { Err(illegal) }
}

/// Checks that the target runtimes support the fixed model.
///
/// # Errors
/// One finding for each input and node that a target runtime does not support.
pub fn check_targets(editor: &mut Editor, cx: &mut Context) -> Result<(), Vec<Finding>> {
    if cx.options.targets.is_empty() {
        return Ok(());
    }
    let refused = errors::by_targets(editor.analyses(), &cx.options);
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}
