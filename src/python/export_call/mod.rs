//! Calls of exporters in a script, and the checks on them.

use tree_sitter::Node;

use crate::diag::Finding;

use super::script::machine::Machine;
use super::script::value::Value;

/// A call of an exporter.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "the checks of calls read it")]
pub struct ExportCall<'t> {
    /// Full path of the exporter: `torch.onnx.export`, or `.to_onnx` for a method.
    pub exporter: String,
    /// The call, and the index of its file.
    pub node: Node<'t>,
    pub file: usize,
    /// Object of a method call: the model of `model.to_onnx(…)`.
    pub receiver: Option<Value<'t>>,
    /// Positional arguments, then keyword arguments, in the order of the source.
    pub arguments: Vec<Argument<'t>>,
    /// Whether all arguments are known; false after `**options` with unknown entries.
    pub is_complete: bool,
    /// Active contexts, outermost first: `torch.no_grad`, `torch.autocast`.
    pub contexts: Vec<Value<'t>>,
    /// Whether an unknown condition or loop decides if the call runs.
    pub is_conditional: bool,
}

/// An argument of a call.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "the checks of calls read it")]
pub struct Argument<'t> {
    /// Name; `None` for a positional argument.
    pub name: Option<String>,
    pub value: Value<'t>,
    /// Its expression, or the expression of the dictionary that contains it; `None` if there is none.
    pub node: Option<Node<'t>>,
}

/// Result of the checks before the model runs.
#[derive(Debug, Default)]
pub struct Checked {
    pub findings: Vec<Finding>,
    /// Whether the call certainly raises before it runs the model.
    pub raises: bool,
}

/// Checks a call before the model runs.
pub fn before<'t>(_machine: &mut Machine<'t>, _call: &ExportCall<'t>) -> Checked {
    Checked::default()
}

/// Checks a call after the model ran on the example. `outputs` is the result of `forward`, or unknown.
pub fn after<'t>(_machine: &mut Machine<'t>, _call: &ExportCall<'t>, _outputs: &Value<'t>) -> Vec<Finding> {
    vec![]
}
