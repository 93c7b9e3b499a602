//! Variables that a loop with a fixed number of iterations computes.

use tree_sitter::Node;

use super::super::syntax::{children, everything, field, fields, text};
use super::machine::{Machine, Stop};
use super::tensor::Deviation::Mixed;

/// Kinds of nodes that can make an iteration do nothing, or undo what it did.
const CHOICES: [&str; 9] = [
    "if_statement",
    "conditional_expression",
    "continue_statement",
    "break_statement",
    "boolean_operator",
    "lambda",
    "list_comprehension",
    "generator_expression",
    "try_statement",
];

impl<'t> Machine<'t> {
    /// Marks the variables that a loop updates, after a replay with another number of iterations.
    pub fn deviate_recurrence(&mut self, left: Node<'t>, body: Option<Node<'t>>) -> Result<(), Stop> {
        let source = self.source(self.file());
        for target in body.map(|body| updated(left, body, source)).unwrap_or_default() {
            let value = self.evaluate(target)?;
            if value.tensor().is_some_and(|tensor| tensor.varies) && self.deviation(&value).is_none() {
                let value = self.with_deviation(value, Some(Mixed));
                self.assign(target, value)?;
            }
        }
        Ok(())
    }
}

/// Returns the variables that each iteration computes from their last values and a row of a tensor.
///
/// The loop is over rows, or it selects rows by its variable: `x[:, t]`. Sums and calls of own layers are certain
/// to change a variable; other expressions, such as `torch.maximum(s, x[:, t])`, are not.
fn updated<'t>(left: Node<'t>, body: Node<'t>, source: &'t str) -> Vec<Node<'t>> {
    if left.kind() != "identifier" || everything(body).iter().any(|node| CHOICES.contains(&node.kind())) {
        return vec![];
    }
    let variable = text(left, source);
    let head = left.parent().and_then(|head| field(head, "right")).map_or("", |right| text(right, source));
    let mut rows: Vec<&str> = if head.starts_with("range") { vec![] } else { vec![variable] };
    let mut updated: Vec<Node<'t>> = vec![];
    let mut assigned: Vec<&str> = vec![];
    for statement in children(body).into_iter().filter(|node| node.kind() == "expression_statement") {
        let Some(assignment) = children(statement).first().copied() else { continue };
        let (Some(target), Some(value)) = (field(assignment, "left"), field(assignment, "right")) else {
            continue;
        };
        if target.kind() != "identifier" {
            return vec![];
        }
        let name = text(target, source);
        let is_named = |node: &Node, names: &[&str]| {
            let is_part =
                node.parent().is_some_and(|parent| matches!(parent.kind(), "attribute" | "keyword_argument"));
            node.kind() == "identifier" && !is_part && names.contains(&text(*node, source))
        };
        let parts = everything(value);
        let selects_row = parts.iter().any(|node| {
            let keys = fields(*node, "subscript");
            node.kind() == "subscript" && keys.iter().any(|key| is_named(key, &[variable]))
        });
        if selects_row || parts.iter().any(|node| is_named(node, &rows)) {
            rows.push(name);
            let keeps_last = assignment.kind() == "augmented_assignment"
                && field(assignment, "operator").is_some_and(|by| matches!(text(by, source), "+=" | "-="));
            let reads_last =
                parts.iter().any(|node| is_named(node, &[name])) && is_sum_or_layer(value, source);
            if assigned.contains(&name) {
                return vec![];
            }
            if keeps_last || reads_last {
                updated.push(target);
            }
        }
        assigned.push(name);
    }
    let is_last =
        |target: &Node<'t>| assigned.iter().filter(|name| **name == text(*target, source)).count() == 1;
    updated.retain(is_last);
    updated
}

/// Returns true for a sum, and for a call of a layer of `self`.
fn is_sum_or_layer(value: Node, source: &str) -> bool {
    match value.kind() {
        "binary_operator" => {
            field(value, "operator").is_some_and(|operator| matches!(text(operator, source), "+" | "-"))
        }
        "call" => field(value, "function")
            .and_then(|callee| field(callee, "object"))
            .is_some_and(|object| text(object, source) == "self"),
        _ => false,
    }
}
