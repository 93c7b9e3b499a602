//! What depends on the inputs of the model, and what its outputs depend on.

use crate::graph::{Def, Id, Model, NodeId, ValueId, order, scopes};

/// Reachability over all graphs of a model.
pub struct Reach {
    from_inputs: Vec<bool>,
    to_outputs: Vec<bool>,
}

impl Reach {
    pub fn new(model: &Model) -> Self {
        Reach { from_inputs: from_inputs(model), to_outputs: to_outputs(model) }
    }

    /// Whether a value may differ from run to run, or is a function of shapes of inputs. Inputs with a
    /// default are among those that may; so are those of bodies and functions.
    pub fn depends_on_inputs(&self, value: ValueId) -> bool {
        self.from_inputs[value.index()]
    }

    /// Whether an output of the model, or of a function, depends on a value.
    pub fn takes_part(&self, value: ValueId) -> bool {
        self.to_outputs[value.index()]
    }
}

/// What a node takes, the captures of its bodies included.
pub fn taken(model: &Model, id: NodeId) -> Vec<ValueId> {
    let node = &model.nodes[id];
    let captured =
        if node.graphs().next().is_some() { scopes::captures_of_node(model, id) } else { Vec::new() };
    node.inputs.iter().flatten().copied().chain(captured).collect()
}

/// Graphs stand before the bodies in them, so that captures are known when a body is looked at.
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

/// Backwards from the outputs of the model and of its functions. A body belongs to its node: what it
/// captures takes part where the node does.
fn to_outputs(model: &Model) -> Vec<bool> {
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
