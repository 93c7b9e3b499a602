//! Detection of branches of the source that the export did not run.

use tree_sitter::{Node, Point};

use super::syntax::{children, field, fields, line, lines as lines_of};

/// Returns true if nodes from `lines` show that the code at the 1-based line `at` did not run.
///
/// The code did not run if `at` is in an `if` branch without nodes, and another branch of the `if` has nodes.
/// A branch without nodes that ends with `return` did not run, either, if code after the `if` has nodes.
pub fn is_passed_by(root: Node, at: u32, lines: &[u32]) -> bool {
    let Some(row) = usize::try_from(at).ok().and_then(|at| at.checked_sub(1)) else { return false };
    let (start, end) = (Point { row, column: 0 }, Point { row: row + 1, column: 0 });
    let mut node = root.descendant_for_point_range(start, start);
    // The indentation belongs to the enclosing block, so descend to the first statement of the line.
    while let Some(outer) = node {
        let first = children(outer)
            .into_iter()
            .find(|child| child.end_position() > start && child.start_position() < end);
        match first {
            Some(inner) if line(outer) < at => node = Some(inner),
            _ => break,
        }
    }
    while let Some(inner) = node {
        let Some(outer) = inner.parent() else { return false };
        if inner.kind() == "block"
            && let Some(whole) = decision(outer)
            && is_left_out(inner, whole, lines)
        {
            return true;
        }
        if outer.kind() == "function_definition" {
            return false;
        }
        node = Some(outer);
    }
    false
}

/// Returns the `if` statement of a branch, given the parent of its block.
fn decision(parent: Node) -> Option<Node> {
    match parent.kind() {
        "if_statement" => Some(parent),
        "elif_clause" | "else_clause" => parent.parent().filter(|whole| whole.kind() == "if_statement"),
        _ => None,
    }
}

fn is_left_out(block: Node, whole: Node, lines: &[u32]) -> bool {
    let left_nodes = |node: Node| lines.iter().any(|line| lines_of(node).contains(line));
    if left_nodes(block) {
        return false;
    }
    let ways = [whole].into_iter().chain(fields(whole, "alternative")).filter_map(body);
    if ways.filter(|way| *way != block).any(left_nodes) {
        return true;
    }
    let returns = children(block).last().is_some_and(|last| last.kind() == "return_statement");
    let (mut function, end) = (whole.parent(), *lines_of(whole).end());
    while let Some(outer) = function.filter(|outer| outer.kind() != "function_definition") {
        function = outer.parent();
    }
    let after = function.map(|function| end + 1..=*lines_of(function).end());
    returns && after.is_some_and(|after| lines.iter().any(|line| after.contains(line)))
}

/// Returns the block of an `if`, `elif` or `else` clause.
fn body(clause: Node) -> Option<Node> {
    field(clause, "consequence").or_else(|| field(clause, "body"))
}
