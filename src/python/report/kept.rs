//! Help texts that keep tensors instead of their conversions to numbers.

use tree_sitter::Node;

use crate::diag::Applicability;

use super::super::syntax::{ancestors, everything, field, on_one_line, text};
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
    if is_list {
        return match splits(node, source) {
            true => format!("keep {what}: pad the pieces to one length, and mask them, instead of `split`"),
            false => format!("keep {what}: replace what the code does with the list by operators on `{by}`"),
        }
        .into();
    }
    let is_unchanged = target_of(node).is_some_and(|left| text(left, source) == by);
    if is_unchanged || !takes_tensor(node, source) || needs_number(node, source) {
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

/// Returns the target of the assignment of `node`.
fn target_of(node: Node) -> Option<Node> {
    let assignment = node.parent().filter(|parent| parent.kind() == "assignment")?;
    field(assignment, "left")
}

/// Returns the later uses of the variable to which `node` is assigned.
fn uses<'t>(node: Node<'t>, source: &str) -> Vec<Node<'t>> {
    let Some(target) = target_of(node).filter(|target| target.kind() == "identifier") else { return vec![] };
    let mut around = ancestors(node);
    let scope = around.find(|node| matches!(node.kind(), "function_definition" | "module"));
    let is_use = |other: &Node<'t>| {
        other.kind() == "identifier"
            && other.start_byte() > node.end_byte()
            && text(*other, source) == text(target, source)
    };
    scope.map(everything).unwrap_or_default().into_iter().filter(is_use).collect()
}

/// Returns the name of the function or method that gets `node` as an argument.
fn callee<'s>(node: Node, source: &'s str) -> Option<&'s str> {
    let list = node.parent().filter(|parent| parent.kind() == "argument_list")?;
    let path = text(field(list.parent()?, "function")?, source);
    Some(path.rsplit('.').next().unwrap_or(path))
}

/// Returns true if a tensor is split into pieces whose lengths are the list `node`.
fn splits(node: Node, source: &str) -> bool {
    let is_split = |node: Node| callee(node, source).is_some_and(|name| name.starts_with("split"));
    is_split(node) || uses(node, source).into_iter().any(is_split)
}

/// Returns true if a later use of the variable to which `node` is assigned may not take a tensor.
fn needs_number(node: Node, source: &str) -> bool {
    let takes_numbers = |name: &str| {
        matches!(
            name,
            "range" | "round" | "str" | "print" | "bool" | "min" | "max" | "index" | "get" | "append"
        )
    };
    uses(node, source).into_iter().any(|one| {
        callee(one, source).is_some_and(takes_numbers)
            || one.parent().is_some_and(|parent| match parent.kind() {
                "subscript" => field(parent, "value") != Some(one),
                "comparison_operator" | "pair" | "slice" => true,
                _ => false,
            })
    })
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
