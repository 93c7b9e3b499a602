//! Captured values and nested graphs.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::arena::{GraphId, NodeId, ValueId};
use super::model::Model;
use super::normal_domain;

/// Returns the outer values that `graph` and its nested subgraphs use.
/// Lists each captured value once, in order of first use.
pub fn captures(model: &Model, graph: GraphId) -> Vec<ValueId> {
    let mut walk = Walk { model, inside: IndexSet::default(), used: IndexSet::default() };
    walk.graph(graph);
    let Walk { inside, used, .. } = walk;
    used.into_iter().filter(|&value| !inside.contains(&model.values[value].graph)).collect()
}

/// Returns the outer values that the subgraphs of `node` use, like [`captures`].
pub fn captures_of_node(model: &Model, node: NodeId) -> Vec<ValueId> {
    let mut walk = Walk { model, inside: IndexSet::default(), used: IndexSet::default() };
    for body in model.nodes[node].graphs() {
        walk.graph(body);
    }
    let Walk { inside, used, .. } = walk;
    used.into_iter().filter(|&value| !inside.contains(&model.values[value].graph)).collect()
}

/// Returns `graph` and its nested subgraphs at any depth, outer before inner.
pub fn nested(model: &Model, graph: GraphId) -> Vec<GraphId> {
    let mut found = vec![graph];
    let mut next = 0;
    while let Some(&graph) = found.get(next) {
        let nodes = &model.graphs[graph].nodes;
        found.extend(nodes.iter().flat_map(|&node| model.nodes[node].graphs()));
        next += 1;
    }
    found
}

/// Returns all graphs reachable from the main graph and the local functions.
/// The arena may also hold graphs that a rewrite left unreferenced.
pub fn live(model: &Model) -> Vec<GraphId> {
    let roots = model.functions.iter().map(|function| function.body).chain([model.main]);
    roots.flat_map(|root| nested(model, root)).collect()
}

/// Returns the local function that each node of the live graphs calls, as [`Model::callee`] does.
pub fn callees(model: &Model) -> FxHashMap<NodeId, usize> {
    let mut by_name = FxHashMap::default();
    for (index, function) in model.functions.iter().enumerate() {
        let Some(name) = function.name.as_deref() else { continue };
        let overload = function.overload.as_deref().unwrap_or("");
        by_name.entry((normal_domain(function.domain.as_deref()), name, overload)).or_insert(index);
    }
    if by_name.is_empty() {
        return FxHashMap::default();
    }
    let nodes = live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    let callee = |&id: &NodeId| {
        let node = &model.nodes[id];
        let key = (node.domain(), &*node.op_type, node.overload.as_deref().unwrap_or(""));
        Some((id, *by_name.get(&key)?))
    };
    nodes.filter_map(callee).collect()
}

/// Returns the graphs that the main graph contains or calls, directly or not.
///
/// `callees` is the result of [`callees()`].
pub fn reached(model: &Model, callees: &FxHashMap<NodeId, usize>) -> FxHashSet<GraphId> {
    let (mut graphs, mut called) = (FxHashSet::default(), FxHashSet::default());
    let mut todo = vec![model.main];
    while let Some(root) = todo.pop() {
        for graph in nested(model, root) {
            graphs.insert(graph);
            let functions = model.graphs[graph].nodes.iter().filter_map(|node| callees.get(node));
            let new = functions.filter(|&&function| called.insert(function));
            todo.extend(new.map(|&function| model.functions[function].body));
        }
    }
    graphs
}

struct Walk<'a> {
    model: &'a Model,
    inside: IndexSet<GraphId, FxBuildHasher>,
    used: IndexSet<ValueId, FxBuildHasher>,
}

impl Walk<'_> {
    /// Recurses into subgraphs; the reader limits their nesting depth.
    fn graph(&mut self, id: GraphId) {
        self.inside.insert(id);
        let model = self.model;
        let graph = &model.graphs[id];
        for &node in &graph.nodes {
            let node = &model.nodes[node];
            self.used.extend(node.inputs.iter().flatten().copied());
            for body in node.graphs() {
                self.graph(body);
            }
        }
        self.used.extend(graph.outputs.iter().map(|port| port.value));
    }
}
