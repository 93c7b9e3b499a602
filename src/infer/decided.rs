//! `If` nodes with a constant condition.

use super::Facts;
use crate::graph::{GraphId, Model, NodeId};

/// Returns the branch that an `If` with a constant condition runs, as attribute name and subgraph.
/// Returns `None` if the node is not an `If`, or its condition is not constant.
pub fn decided_branch<'m>(model: &'m Model, facts: &Facts, node: NodeId) -> Option<(&'m str, GraphId)> {
    let node = &model.nodes[node];
    if !node.is("If") {
        return None;
    }
    let condition = facts[node.input(0)?].as_const()?;
    let name = match condition.as_bools().ok()? {
        [true] => "then_branch",
        [false] => "else_branch",
        _ => return None,
    };
    let attr = node.attrs.iter().find(|attr| &*attr.name == name)?;
    Some((&attr.name, *attr.value.graphs().first()?))
}
