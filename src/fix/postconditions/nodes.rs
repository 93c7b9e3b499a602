//! Nodes that are illegal at the imported opset, or whose domain is not imported.

use rustc_hash::FxHashSet;

use crate::fix::errors::illegal_as_written;
use crate::graph::{Model, NodeId, normal_domain, scopes};
use crate::infer::Facts;

/// Returns a fault for each illegal node, except for calls of local functions.
pub(super) fn faults(model: &Model, facts: &Facts) -> Vec<String> {
    let functions: FxHashSet<(&str, &str)> = model
        .functions
        .iter()
        .map(|function| (normal_domain(function.domain.as_deref()), function.name.as_deref().unwrap_or("")))
        .collect();
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    let of_operator = nodes.filter(|&&node| {
        let node = &model.nodes[node];
        !functions.contains(&(node.domain(), &*node.op_type))
    });
    of_operator.filter_map(|&node| fault(model, facts, node)).collect()
}

fn fault(model: &Model, facts: &Facts, id: NodeId) -> Option<String> {
    let node = &model.nodes[id];
    let name = node.op_name();
    let Some(opset) = model.opset(node.graph, node.domain()) else {
        return Some(format!("the domain of `{name}` is not imported"));
    };
    let illegal = illegal_as_written(model, Some(facts), id, u16::try_from(opset).ok()?)?;
    Some(format!("`{name}` {illegal}"))
}
