//! Reachability from the inputs and to the outputs of a model.

use crate::graph::{Def, Id, Model, NodeId, ValueId, order, scopes};

/// Dependence of values on the inputs of the model.
pub struct Reach {
    from_inputs: Vec<bool>,
}

impl Reach {
    /// Computes which values depend on inputs.
    pub fn new(model: &Model) -> Self {
        Reach { from_inputs: from_inputs(model) }
    }

    /// Returns true if a value depends on inputs or their shapes.
    ///
    /// Inputs with a default, inputs of subgraphs and functions, and undefined values count as inputs.
    pub fn depends_on_inputs(&self, value: ValueId) -> bool {
        self.from_inputs[value.index()]
    }
}

/// Returns the model inputs that have no default.
pub fn given(model: &Model) -> impl Iterator<Item = ValueId> {
    let inputs = model.graphs[model.main].inputs.iter().map(|port| port.value);
    inputs.filter(|&value| model.values[value].initial.is_none())
}

/// Returns the inputs of a node, and the values that its subgraphs capture.
pub fn taken(model: &Model, id: NodeId) -> Vec<ValueId> {
    let node = &model.nodes[id];
    let captured =
        if node.graphs().next().is_some() { scopes::captures_of_node(model, id) } else { Vec::new() };
    node.inputs.iter().flatten().copied().chain(captured).collect()
}

/// Returns whether each value depends on inputs.
///
/// Outer graphs come first, so captures are known when a subgraph is visited.
fn from_inputs(model: &Model) -> Vec<bool> {
    let is_source = |def| matches!(def, Def::Input(_) | Def::Missing);
    let mut reached: Vec<bool> = model.values.iter().map(|(_, value)| is_source(value.def)).collect();
    for graph in model.graphs.ids() {
        for node in order::sorted_or_file(model, graph) {
            let depends = taken(model, node).into_iter().any(|value| reached[value.index()]);
            for &output in model.nodes[node].outputs.iter().flatten() {
                reached[output.index()] = depends;
            }
        }
    }
    reached
}

/// Returns whether an output of the model, or of a function, depends on each value.
///
/// A captured value counts as an input of the node that contains the subgraph.
pub fn to_outputs(model: &Model) -> Vec<bool> {
    let mut reached = vec![false; model.values.len()];
    let bodies = model.functions.iter().map(|function| function.body);
    let roots = std::iter::once(model.main).chain(bodies);
    let mut open: Vec<ValueId> =
        roots.flat_map(|graph| &model.graphs[graph].outputs).map(|port| port.value).collect();
    let mut seen_nodes = vec![false; model.nodes.len()];
    while let Some(value) = open.pop() {
        reached[value.index()] = true;
        let Some((node, _)) = model.producer(value) else { continue };
        if !std::mem::replace(&mut seen_nodes[node.index()], true) {
            open.extend(taken(model, node));
        }
    }
    reached
}
