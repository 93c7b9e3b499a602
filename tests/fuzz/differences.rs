//! The page of the differences that stay between our evaluator and ONNX Runtime, as a table of operators.

use onnx_lint::graph::{AttrValue, Model, Node};

/// Whether an operator is on the page.
pub fn is_known(op: &str) -> bool {
    let mut rows = include_str!("DIFFERENCES.md").lines().filter_map(|line| line.strip_prefix("| "));
    rows.any(|row| row.split(" |").next() == Some(op))
}

/// The operator that a difference of this node is about: of one with bodies, one in them that is on the page.
pub fn about(model: &Model, node: &Node) -> String {
    within(model, node).unwrap_or_else(|| node.op_name())
}

fn within(model: &Model, node: &Node) -> Option<String> {
    let bodies = node.attrs.iter().filter_map(|attr| match attr.value {
        AttrValue::Graph(graph) => Some(graph),
        _ => None,
    });
    let mut nodes = bodies.flat_map(|graph| &model.graphs[graph].nodes).map(|&inner| &model.nodes[inner]);
    nodes.find_map(|inner| match is_known(&inner.op_name()) {
        true => Some(inner.op_name()),
        false => within(model, inner),
    })
}
