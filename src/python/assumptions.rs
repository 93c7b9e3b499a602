//! Conditions whose value is assumed for exported models.

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::parameters::{Parameter, parameters};
use super::syntax::{children, everything, field, text, within};
use super::value::Value;

/// Ends of the paths of functions that export a model.
const EXPORTERS: [&str; 4] = ["onnx.export", "export.export", "jit.trace", ".to_onnx"];

/// 16-bit types.
const HALVES: [&str; 3] = ["torch.float16", "torch.half", "torch.bfloat16"];

impl<'t> Interpreter<'t> {
    /// Returns the value of a comparison that is assumed for exported models.
    pub fn assumed(&self, node: Node<'t>, operators: &[&str]) -> Option<bool> {
        let [left, right] = children(node)[..] else { return None };
        let [operator] = operators else { return None };
        let holds = self.asks_for_half(left, right) || self.asks_for_flash(left, right);
        match *operator {
            "==" | "in" if holds => Some(false),
            "!=" | "not in" if holds => Some(true),
            "is" if self.asks_for_labels(left, right) => Some(true),
            "is not" if self.asks_for_labels(left, right) => Some(false),
            _ => None,
        }
    }

    /// Returns true for the operands of `x.dtype == torch.float16`, if models have 32 bits.
    fn asks_for_half(&self, left: Node<'t>, right: Node<'t>) -> bool {
        let half = |side| HALVES.contains(&text(side, self.source));
        let is_dtype = |side| text(side, self.source).ends_with(".dtype");
        let asks = is_dtype(left) && half(right) || half(left) && is_dtype(right);
        asks && !(self.is_script(left) && self.has_halves(left))
    }

    /// Returns true if the file of a node may convert a model to a 16-bit type.
    ///
    /// Comparisons with a type convert nothing.
    fn has_halves(&self, node: Node<'t>) -> bool {
        let is_compared = |node: Node<'t>| {
            let mut around = node.parent();
            while let Some(outer) = around.filter(|outer| matches!(outer.kind(), "tuple" | "list" | "set")) {
                around = outer.parent();
            }
            around.is_some_and(|outer| outer.kind() == "comparison_operator")
        };
        everything(root(node)).into_iter().any(|node| match node.kind() {
            "call" => {
                let method = field(node, "function").and_then(|callee| field(callee, "attribute"));
                method.is_some_and(|method| matches!(text(method, self.source), "half" | "bfloat16"))
            }
            "attribute" => HALVES.contains(&text(node, self.source)) && !is_compared(node),
            "identifier" => {
                let path = self.globals.get(text(node, self.source));
                matches!(path, Some(Value::Name(path)) if HALVES.contains(&&**path)) && !is_compared(node)
            }
            "string" => {
                let name = text(node, self.source).trim_matches(['"', '\'']);
                matches!(name, "float16" | "bfloat16") && !is_compared(node)
            }
            _ => false,
        })
    }

    /// Returns true for the operands of `config._attn_implementation == "flash_attention_2"`.
    ///
    /// No exporter supports the kernels of FlashAttention.
    fn asks_for_flash(&self, left: Node<'t>, right: Node<'t>) -> bool {
        let is_setting = text(left, self.source).ends_with("attn_implementation");
        let strings: Vec<Node> = match right.kind() {
            "string" => vec![right],
            "tuple" | "list" | "set" => children(right),
            _ => vec![],
        };
        let is_flash = |string: &Node| {
            string.kind() == "string"
                && text(*string, self.source).trim_matches(['"', '\'']).starts_with("flash_")
        };
        is_setting && !strings.is_empty() && strings.iter().all(is_flash)
    }

    /// Returns true for the operands of `labels is None`, if `labels` is an optional parameter.
    ///
    /// Only training passes labels.
    fn asks_for_labels(&self, left: Node<'t>, right: Node<'t>) -> bool {
        let function = self.frames.last().and_then(|frame| frame.function);
        let Some(function) = function.map(|index| self.program.functions[index].node) else { return false };
        let is_optional = |parameter: &Parameter| {
            parameter.name == text(left, self.source)
                && parameter.default.is_some_and(|default| default.kind() == "none")
        };
        right.kind() == "none"
            && are_labels(text(left, self.source))
            && parameters(function, self.source).iter().any(is_optional)
    }

    /// Returns true for a function that needs labels, and so computes a loss.
    pub fn is_of_training(&self, function: Node<'t>) -> bool {
        let needs = |parameter: &Parameter| are_labels(parameter.name) && parameter.default.is_none();
        !self.is_script(function) && parameters(function, self.source).iter().any(needs)
    }

    /// Returns true if the file of a node calls an exporter.
    fn is_script(&self, node: Node<'t>) -> bool {
        let exports = |path: &str| EXPORTERS.iter().any(|exporter| path.ends_with(exporter));
        let calls = everything(root(node)).into_iter().filter(|node| node.kind() == "call");
        calls.filter_map(|call| field(call, "function")).map(|callee| text(callee, self.source)).any(|name| {
            exports(name) || matches!(self.globals.get(name), Some(Value::Name(path)) if exports(path))
        })
    }
}

/// Returns the root of the tree of a node.
fn root(mut node: Node) -> Node {
    while let Some(outer) = node.parent() {
        node = outer;
    }
    node
}

/// Returns true for the name of a parameter with labels for training.
fn are_labels(name: &str) -> bool {
    name == "labels" || name.ends_with("_labels")
}
