//! Dead code elimination: unused nodes and initializers.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::uses::Uses;
use crate::graph::{Def, GraphId, Model, Node, NodeId, Owner, ValueId, scopes};

/// Number of uses of each value, in some graphs.
struct Counts(FxHashMap<ValueId, usize>);

impl Counts {
    fn of(model: &Model, graphs: &[GraphId]) -> Self {
        let mut counts: FxHashMap<ValueId, usize> = FxHashMap::default();
        for &graph in graphs {
            for value in read_in(model, graph) {
                *counts.entry(value).or_default() += 1;
            }
        }
        Counts(counts)
    }

    fn of_value(&self, value: ValueId) -> usize {
        self.0.get(&value).copied().unwrap_or(0)
    }

    fn release(&mut self, value: ValueId) {
        self.0.entry(value).and_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Returns true if no output of the node is used.
/// Nodes without outputs may have side effects and are kept.
fn is_dead(node: &Node, count: &dyn Fn(ValueId) -> usize) -> bool {
    let mut outputs = node.outputs.iter().flatten().peekable();
    outputs.peek().is_some() && outputs.all(|&output| count(output) == 0)
}

/// Returns true if a node has outputs, and none of them is used.
pub fn is_unused(model: &Model, uses: &Uses, node: NodeId) -> bool {
    is_dead(&model.nodes[node], &|value| uses.count(value))
}

/// Returns the unused dense initializers of a graph.
/// Initializers that are also inputs of the model are part of its interface and not returned.
pub fn unused_initializers(model: &Model, uses: &Uses, graph: GraphId) -> Vec<ValueId> {
    let is_main = matches!(model.graphs[graph].owner, Owner::Model);
    let unused = model.graphs[graph].initializers.iter().copied().filter(|&value| uses.count(value) == 0);
    unused.filter(|&value| !is_main || model.constant(value).is_some()).collect()
}

/// Returns the inputs of the nodes in a graph, and its outputs.
fn read_in(model: &Model, graph: GraphId) -> impl Iterator<Item = ValueId> {
    let scope = &model.graphs[graph];
    let nodes = scope.nodes.iter().flat_map(|&node| model.nodes[node].inputs.iter().flatten().copied());
    nodes.chain(scope.outputs.iter().map(|port| port.value))
}

/// Returns the values that a node uses, including those used in its subgraphs.
pub(super) fn read_by(model: &Model, node: NodeId) -> Vec<ValueId> {
    released(model, node, &mut FxHashSet::default())
}

/// Returns all dead nodes, including those that only dead nodes use.
pub fn dead_nodes(model: &Model) -> FxHashSet<NodeId> {
    let live = scopes::live(model);
    let counts = Counts::of(model, &live);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let open = nodes.filter(|&node| is_dead(&model.nodes[node], &|value| counts.of_value(value))).collect();
    spread(model, counts, open, &|_| true)
}

/// Extends dead nodes by nodes that only they use, if `may` allows their removal.
fn spread(
    model: &Model,
    mut counts: Counts,
    mut open: Vec<NodeId>,
    may: &dyn Fn(NodeId) -> bool,
) -> FxHashSet<NodeId> {
    let mut dead: FxHashSet<NodeId> = FxHashSet::default();
    while let Some(node) = open.pop() {
        for value in released(model, node, &mut dead) {
            counts.release(value);
            let maker = model.producer(value).map(|(maker, _)| maker).filter(|&maker| may(maker));
            let is_dead = |&maker: &NodeId| is_dead(&model.nodes[maker], &|value| counts.of_value(value));
            open.extend(maker.filter(is_dead));
        }
    }
    dead
}

/// Adds a node and those in its subgraphs to `dead`; returns the values that the added nodes used.
fn released(model: &Model, node: NodeId, dead: &mut FxHashSet<NodeId>) -> Vec<ValueId> {
    let (mut values, mut gone) = (Vec::new(), vec![node]);
    while let Some(node) = gone.pop() {
        if !dead.insert(node) {
            continue;
        }
        values.extend(model.nodes[node].inputs.iter().flatten());
        for body in model.nodes[node].graphs() {
            let body = &model.graphs[body];
            values.extend(body.outputs.iter().map(|port| port.value));
            gone.extend(&body.nodes);
        }
    }
    values
}

/// Removes replaced nodes without uses, and nodes of the graph that only they use.
/// Returns the removed nodes, including those in their subgraphs.
pub(super) fn remove_replaced(model: &mut Model, graph: GraphId, replaced: Vec<NodeId>) -> FxHashSet<NodeId> {
    if replaced.is_empty() {
        return FxHashSet::default();
    }
    let counts = Counts::of(model, &scopes::nested(model, graph));
    let is_free = |node: &NodeId| {
        let mut outputs = model.nodes[*node].outputs.iter().flatten();
        outputs.all(|&output| counts.of_value(output) == 0)
    };
    let open: Vec<NodeId> = replaced.into_iter().filter(is_free).collect();
    let here: FxHashSet<NodeId> = model.graphs[graph].nodes.iter().copied().collect();
    let dead = spread(model, counts, open, &|node| here.contains(&node));
    model.graphs[graph].nodes.retain(|node| !dead.contains(node));
    dead
}

/// Removes those of the given values that are unused initializers of a graph.
pub(super) fn remove_unused_initializers(model: &mut Model, graph: GraphId, released: Vec<ValueId>) {
    let is_own =
        |value: &ValueId| model.values[*value].graph == graph && model.values[*value].def == Def::Initializer;
    let own: FxHashSet<ValueId> = released.into_iter().filter(is_own).collect();
    if own.is_empty() {
        return;
    }
    let counts = Counts::of(model, &scopes::nested(model, graph));
    let is_needed = |value: &ValueId| !own.contains(value) || counts.of_value(*value) > 0;
    let scope = &mut model.graphs[graph];
    scope.initializers.retain(is_needed);
    scope.sparse_initializers.retain(is_needed);
}
