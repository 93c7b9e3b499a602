//! Reads and writes of one variable in a statement.

use tree_sitter::Node;

use super::super::syntax::{children, everything, field, text};
use super::flow_names::is_tensor_method;

/// Effect of a statement on a variable.
#[derive(PartialEq, Eq)]
pub enum Write {
    /// The value stays.
    None,
    /// The variable gets another value.
    Assigned,
    /// The value may change, or the effect is not known.
    Other,
}

/// Returns true for a variable, and for a chain of tensor methods on it.
pub fn is_view(node: Node, name: &str, source: &str) -> bool {
    match node.kind() {
        "identifier" => text(node, source) == name,
        "call" => {
            field(node, "function").filter(|method| method.kind() == "attribute").is_some_and(|method| {
                let last = field(method, "attribute").map_or("", |last| text(last, source));
                is_tensor_method(last)
                    && field(method, "object").is_some_and(|object| is_view(object, name, source))
            })
        }
        _ => false,
    }
}

/// Returns true for a read of a variable.
pub fn is_read(node: Node, name: &str, source: &str) -> bool {
    let Some(outer) = node.parent() else { return false };
    node.kind() == "identifier"
        && text(node, source) == name
        && field(outer, "attribute") != Some(node)
        && field(outer, "name") != Some(node)
        && !(is_assignment(outer) && field(outer, "left") == Some(node))
}

fn is_assignment(node: Node) -> bool {
    matches!(node.kind(), "assignment" | "augmented_assignment")
}

/// Returns the effect of a statement on a variable.
///
/// The statements in the blocks of a compound statement (`is_block`) are not considered.
pub fn writes_to(statement: Node, name: &str, source: &str, is_block: bool) -> Write {
    let named = |node: Node| {
        everything(node).iter().any(|one| one.kind() == "identifier" && text(*one, source) == name)
    };
    if is_block {
        // The statements of its blocks are events of their own.
        let is_target = |node: &Node| matches!(node.kind(), "as_pattern" | "named_expression");
        let head = children(statement).into_iter().filter(|part| part.kind() != "block");
        let left = field(statement, "left").is_some_and(named);
        let binds =
            head.into_iter().filter(|part| !part.kind().ends_with("_clause") || part.kind() == "with_clause");
        let binds = binds.into_iter().flat_map(everything).filter(is_target).any(named);
        return if left || binds { Write::Other } else { Write::None };
    }
    let mut found = Write::None;
    for node in everything(statement) {
        match node.kind() {
            "assignment" => match field(node, "left") {
                Some(left) if left.kind() == "identifier" && named(left) => found = Write::Assigned,
                Some(left) if left.kind() != "attribute" && named(left) => return Write::Other,
                _ => {}
            },
            "named_expression" | "delete_statement" | "global_statement" | "nonlocal_statement"
                if named(node) =>
            {
                return Write::Other;
            }
            // `x.zero_()` writes in place.
            "attribute" => {
                let last = field(node, "attribute").map_or("", |last| text(last, source));
                if last.ends_with('_') && !last.ends_with("__") && field(node, "object").is_some_and(named) {
                    return Write::Other;
                }
            }
            _ => {}
        }
    }
    found
}
