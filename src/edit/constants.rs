//! Values that become constants.

use crate::graph::{AttrValue, Attribute, Def, GraphId, Initial, Model, Node, NodeId, Tensor, ValueId};
use crate::infer::{self, eval::Array};

/// Where new constants go. Local functions have no initializers, so that there they are always nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    #[default]
    Initializers,
    /// Before IR version 4, initializers would have to be inputs too.
    Nodes,
}

/// Makes an initializer of a value that nothing makes any more.
pub fn initialize(model: &mut Model, graph: GraphId, value: ValueId, tensor: Tensor) {
    let tensor = Tensor { name: Some(model.values[value].name.clone()), ..tensor };
    let tensor = model.tensors.push(tensor);
    model.values[value].initial = Some(Initial::Dense(tensor));
    model.values[value].def = Def::Initializer;
    model.graphs[graph].initializers.push(value);
}

/// Gives a value these elements; the `Constant` node that does it, where one does, is in no graph yet.
pub(super) fn make(
    model: &mut Model,
    place: Constants,
    graph: GraphId,
    value: ValueId,
    array: &Array,
) -> Option<NodeId> {
    let tensor = infer::tensor_of(array);
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
