//! Estimates the cost of a graph as it is, without rewrites.

use super::cost::{Cost, CostModel};
use crate::egraph::{self, ENode, canonical};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model};
use crate::infer::Facts;

/// Returns the sum of the costs of all nodes and constants of a graph.
/// Returns `None` if the graph has a cycle.
pub fn estimate(
    model: &Model,
    graph: GraphId,
    facts: &Facts,
    uses: &Uses,
    pricing: &CostModel,
) -> Option<Cost> {
    let egraph::Built { egraph, calls, .. } = egraph::build(model, graph, facts, uses, false).ok()?;
    let mut total = Cost::default();
    for (node, form) in &calls {
        let form = canonical(&egraph, form);
        if let Some(class) = egraph.lookup(form.clone()) {
            total = total.plus(pricing.own(&egraph, class, &form, Some(*node)));
        }
    }
    for class in egraph.classes() {
        if let Some(leaf) = class.nodes.iter().find(|form| matches!(form, ENode::Leaf(_))) {
            total = total.plus(pricing.own(&egraph, class.id, leaf, None));
        }
    }
    Some(total)
}
