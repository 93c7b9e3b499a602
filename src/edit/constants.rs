//! Turns values into constants.

use crate::graph::{AttrValue, Attribute, Def, GraphId, Initial, Model, Node, NodeId, Tensor, ValueId};

/// Storage of new constants. Local functions have no initializers, so they always use `Constant` nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    #[default]
    Initializers,
    /// `Constant` nodes: before IR version 4, initializers would also have to be inputs.
    Nodes,
}

/// Turns a value without a producer into an initializer.
pub fn initialize(model: &mut Model, graph: GraphId, value: ValueId, tensor: Tensor) {
    let tensor = Tensor { name: Some(model.values[value].name.clone()), ..tensor };
    let tensor = model.tensors.push(tensor);
    model.values[value].initial = Some(Initial::Dense(tensor));
    model.values[value].def = Def::Initializer;
    model.graphs[graph].initializers.push(value);
}

/// Makes a value constant; returns its new `Constant` node, if any, which the caller adds to the graph.
pub(super) fn make(
    model: &mut Model,
    place: Constants,
    graph: GraphId,
    value: ValueId,
    tensor: Tensor,
) -> Option<NodeId> {
    if place == Constants::Initializers && model.function_of(graph).is_none() {
        initialize(model, graph, value, tensor);
        return None;
    }
    let tensor = model.tensors.push(tensor);
    let node = model.nodes.push(Node {
        outputs: vec![Some(value)],
        attrs: vec![Attribute::new("value", AttrValue::Tensor(tensor))],
        ..Node::new(graph, "Constant")
    });
    model.values[value].def = Def::Node { node, output: 0 };
    Some(node)
}
