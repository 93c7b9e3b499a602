//! Help texts that keep tensors instead of their conversions to numbers.

use tree_sitter::Node;

use crate::diag::Applicability;

use super::super::syntax::{field, on_one_line, text};
use super::rewrite::{Help, Piece};

/// Returns the help "keep `what`" with `statement` as a code example, in which `by` replaces `node`.
pub fn kept(what: &str, statement: Node, node: Node, by: &str, source: &str) -> Help {
    let is_list = field(node, "function").is_some_and(|function| text(function, source).ends_with(".tolist"));
    let (node, by) = outermost(node, by, source);
    if statement.kind() == "while_statement" {
        return format!(
            "keep {what}: compute all steps at once, or use `torch.while_loop` with `dynamo=True`"
        )
        .into();
    }
    if statement.kind() == "if_statement" {
        return format!("keep {what}: compute both branches, and select with `torch.where(mask, a, b)`")
            .into();
    }
    let is_unchanged = field(statement, "left").is_some_and(|left| text(left, source) == by);
    if is_unchanged || !takes_tensor(node, source) || is_list && is_argument(node) {
        return format!("keep {what}: compute with `{by}` itself").into();
    }
    // Only expression and return statements get a fix: a fixed condition would branch on a tensor. A call of
    // `int` gets no fix, because the fixed code would not truncate the number.
    let is_simple = matches!(statement.kind(), "expression_statement" | "return_statement");
    let is_cut = field(node, "function").is_some_and(|function| text(function, source) == "int");
    let piece = || Piece::instead(node, &by, Applicability::Unsafe, source);
    let text = format!("keep {what}: `{}`", rewritten(statement, node, &by, source));
    Help::new(text, (is_simple && !is_cut).then(piece).flatten())
}

fn is_argument(node: Node) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "argument_list")
}

/// Returns true if a tensor can replace the number at `node`.
fn takes_tensor(node: Node, source: &str) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is_plain = |name: &str| field(parent, name).is_some_and(|side| side.kind() == "identifier");
    match parent.kind() {
        "return_statement" | "expression_statement" | "binary_operator" | "attribute" => true,
        "assignment" => is_plain("left"),
        "argument_list" => {
            let function = parent.parent().and_then(|call| field(call, "function"));
            let name = function.map_or("", |function| text(function, source));
            !matches!(name, "range" | "round" | "str" | "print" | "bool" | "min" | "max")
        }
        _ => false,
    }
}

/// Returns the call of `int` or `float` around a conversion, and the tensor that replaces it.
fn outermost<'t>(node: Node<'t>, by: &str, source: &str) -> (Node<'t>, String) {
    let arguments = node.parent().filter(|parent| parent.kind() == "argument_list");
    let call = arguments
        .filter(|arguments| arguments.named_child_count() == 1)
        .and_then(|arguments| arguments.parent());
    let function = call.and_then(|call| field(call, "function")).map(|function| text(function, source));
    match (call, function) {
        (Some(call), Some("float")) => (call, by.to_owned()),
        (Some(call), Some("int")) => (call, format!("{by}.long()")),
        _ => (node, by.to_owned()),
    }
}

/// Renders the head of a statement on one line, with `node` replaced by `by`.
fn rewritten(whole: Node, node: Node, by: &str, source: &str) -> String {
    let body = field(whole, "body").or_else(|| field(whole, "consequence"));
    let end = body.map_or(whole.end_byte(), |body| body.start_byte()).max(node.end_byte());
    let before = source.get(whole.start_byte()..node.start_byte()).unwrap_or("");
    let after = source.get(node.end_byte()..end).unwrap_or("");
    on_one_line(&format!("{before}{by}{after}"))
}
