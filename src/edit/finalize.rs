//! Finalizes a graph after patches: redirects uses, removes dead nodes and initializers, and sorts.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::apply::Pending;
use super::dead_code;
use crate::graph::{Def, GraphId, Model, NodeId, ValueId, order, scopes};

/// Result of finalizing a graph.
pub(super) struct Finalized {
    /// Nodes that were added, or whose inputs changed.
    pub touched: FxHashSet<NodeId>,
    /// Values that became initializers.
    pub constants: Vec<ValueId>,
    /// Nodes that only replaced nodes used, and nodes in subgraphs of removed nodes, sorted by id.
    pub removed: Vec<NodeId>,
}

/// Inserts new nodes, redirects uses, removes unused replaced nodes, and sorts the graph.
pub(super) fn finalize(model: &mut Model, graph: GraphId, mut pending: Pending) -> Finalized {
    let before = std::mem::take(&mut model.graphs[graph].nodes);
    let stayed = before.into_iter().enumerate().map(|(at, node)| ((at, 1), node));
    let came = pending.came.drain(..).map(|(at, node)| ((at, 0), node));
    let mut nodes: Vec<_> = came.chain(stayed).collect();
    nodes.sort_by_key(|&(key, _)| key);
    model.graphs[graph].nodes = nodes.into_iter().map(|(_, node)| node).collect();
    let mut touched: FxHashSet<NodeId> = pending.touched.iter().copied().collect();
    redirect(model, graph, &pending.redirects, &mut touched);
    let replaced: FxHashSet<NodeId> = pending.replaced.iter().copied().collect();
    let gone = dead_code::remove_replaced(model, graph, std::mem::take(&mut pending.replaced));
    let released = gone
        .iter()
        .flat_map(|&node| dead_code::read_by(model, node))
        .chain(std::mem::take(&mut pending.released))
        .collect();
    dead_code::remove_unused_initializers(model, graph, released);
    if !gone.is_empty() {
        forget(model, graph);
    }
    touched.retain(|node| !gone.contains(node));
    model.graphs[graph].nodes = order::sorted_or_file(model, graph);
    let mut removed: Vec<NodeId> = gone.into_iter().filter(|node| !replaced.contains(node)).collect();
    removed.sort_unstable();
    Finalized { touched, constants: pending.constants, removed }
}

/// Redirects uses of values, also in subgraphs.
/// Outputs of the graph itself are not redirected, because they are its interface.
fn redirect(
    model: &mut Model,
    graph: GraphId,
    to: &FxHashMap<ValueId, ValueId>,
    touched: &mut FxHashSet<NodeId>,
) {
    if to.is_empty() {
        return;
    }
    let target = |value: ValueId| {
        let mut target = value;
        // A chain has at most as many steps as there are redirections; this bound also ends cycles.
        for _ in 0..to.len() {
            match to.get(&target) {
                Some(&next) => target = next,
                None => break,
            }
        }
        target
    };
    for scope in scopes::nested(model, graph) {
        for at in 0..model.graphs[scope].nodes.len() {
            let node = model.graphs[scope].nodes[at];
            for input in model.nodes[node].inputs.iter_mut().flatten().filter(|input| to.contains_key(input))
            {
                *input = target(*input);
                touched.insert(node);
            }
        }
        if scope != graph {
            for port in model.graphs[scope].outputs.iter_mut().filter(|port| to.contains_key(&port.value)) {
                port.value = target(port.value);
            }
        }
    }
}

/// Removes the declarations and quantization annotations of removed values.
fn forget(model: &mut Model, graph: GraphId) {
    let scope = &model.graphs[graph];
    if scope.value_info.is_empty() && scope.quantization.is_empty() {
        return;
    }
    let nodes: FxHashSet<NodeId> = scope.nodes.iter().copied().collect();
    let is_gone = |value: ValueId| match model.values[value].def {
        Def::Node { node, output } => {
            let made = &model.nodes[node];
            made.graph == graph && (!nodes.contains(&node) || made.output(output as usize) != Some(value))
        }
        _ => false,
    };
    let value_info: Vec<_> = scope.value_info.iter().filter(|port| !is_gone(port.value)).cloned().collect();
    let names: FxHashSet<Arc<str>> = if scope.quantization.is_empty() {
        FxHashSet::default()
    } else {
        let gone = model.values.iter().filter(|(id, value)| value.graph == graph && is_gone(*id));
        gone.map(|(_, value)| value.name.clone()).collect()
    };
    let scope = &mut model.graphs[graph];
    scope.value_info = value_info;
    scope.quantization.retain(|note| note.tensor_name.as_ref().is_none_or(|name| !names.contains(name)));
}
