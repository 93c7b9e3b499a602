//! Calls of exporters, with evaluated arguments.

use tree_sitter::Node;

use super::value::Value;

/// Functions that tell whether a model is being exported.
pub const EXPORT_TESTS: [&str; 4] = ["is_tracing", "is_in_onnx_export", "is_exporting", "is_compiling"];

/// A call of an exporter.
#[derive(Clone, Debug)]
pub struct ExportCall<'t> {
    /// Full path of the exporter (`torch.onnx.export`), or a dot and the method (`.to_onnx`).
    pub exporter: String,
    /// The call.
    pub node: Node<'t>,
    /// Index of its file.
    pub file: usize,
    /// Object of a method call: the model of `model.to_onnx(…)`.
    pub receiver: Option<Value<'t>>,
    /// Positional arguments, then keyword arguments, in the order of the source.
    pub arguments: Vec<Argument<'t>>,
    /// Whether `arguments` lists all arguments; false if `*args` or `**options` may add others.
    pub is_complete: bool,
    /// Active contexts, such as `torch.no_grad` and `torch.autocast`, outermost first.
    pub contexts: Vec<Value<'t>>,
    /// Whether an unknown condition or loop decides if the call runs.
    pub is_conditional: bool,
}

impl<'t> ExportCall<'t> {
    /// Returns a keyword argument.
    pub fn named(&self, name: &str) -> Option<&Argument<'t>> {
        self.arguments.iter().find(|argument| argument.name.as_deref() == Some(name))
    }

    /// Returns an argument by name or by 0-based position.
    pub fn argument(&self, position: usize, name: &str) -> Option<&Argument<'t>> {
        let positional = || self.arguments.get(position).filter(|argument| argument.name.is_none());
        self.named(name).or_else(positional)
    }
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument<'t> {
    /// Name; `None` for a positional argument.
    pub name: Option<String>,
    pub value: Value<'t>,
    /// Expression of the argument or of the dictionary that contains it, or `None` if there is none.
    pub node: Option<Node<'t>>,
}
