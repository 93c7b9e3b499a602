//! Copies the bodies of local functions for inlining.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::apply::merge;
use super::names::Names;
use crate::graph::{
    AttrValue, Attribute, Def, Graph, GraphId, Model, Node, NodeId, Owner, Port, Value, ValueId,
};

/// Call of a local function.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub node: NodeId,
    /// Index of the function in the model.
    pub function: usize,
}

/// Instantiates the function body for a call.
/// Returns a graph owned by the calling node, and the value of each output of the function.
pub(super) fn copy(model: &mut Model, names: &mut Names, call: Call) -> (GraphId, Vec<Option<ValueId>>) {
    let caller = model.nodes[call.node].clone();
    let function = model.functions[call.function].clone();
    let body = model.graphs[function.body].clone();
    let inputs = body.inputs.iter().enumerate();
    let values = inputs.map(|(index, port)| (port.value, caller.input(index))).collect();
    let mut copy = Copy { model, names, caller: &caller, defaults: &function.attribute_defaults, values };
    let graph = copy.model.graphs.push(Graph::new(Owner::Node(call.node)));
    let nodes = copy.nodes(&body.nodes, graph);
    let outputs = body.outputs.iter().map(|port| copy.known(port.value)).collect();
    copy.model.graphs[graph].nodes = nodes;
    (graph, outputs)
}

/// Copy in progress.
struct Copy<'a> {
    model: &'a mut Model,
    names: &'a mut Names,
    caller: &'a Node,
    defaults: &'a [Attribute],
    /// Replacement of each value of the body; `None` for an input that the call omits.
    values: FxHashMap<ValueId, Option<ValueId>>,
}

impl Copy<'_> {
    /// Returns the replacement of a value, or the value itself if it is from outside of the body.
    fn known(&self, value: ValueId) -> Option<ValueId> {
        self.values.get(&value).copied().unwrap_or(Some(value))
    }

    /// Resolves an attribute for the call.
    /// Returns `None` for a reference to an omitted attribute without a default.
    fn resolve(&self, attr: &Attribute) -> Option<Attribute> {
        let AttrValue::Ref { name, .. } = &attr.value else { return Some(attr.clone()) };
        let mut given = self.caller.attrs.iter().chain(self.defaults);
        let value = given.find(|given| given.name == *name)?.value.clone();
        Some(Attribute { value, ..attr.clone() })
    }

    /// Copies nodes, which may be in any order.
    fn nodes(&mut self, nodes: &[NodeId], graph: GraphId) -> Vec<NodeId> {
        for &node in nodes {
            for output in self.model.nodes[node].outputs.clone().into_iter().flatten() {
                self.value(output, graph);
            }
        }
        nodes.iter().map(|&node| self.node(node, graph)).collect()
    }

    fn node(&mut self, node: NodeId, graph: GraphId) -> NodeId {
        let old = self.model.nodes[node].clone();
        let inputs = old.inputs.iter().map(|input| input.and_then(|input| self.known(input))).collect();
        let outputs: Vec<Option<ValueId>> =
            old.outputs.iter().map(|output| Some(self.value((*output)?, graph))).collect();
        let name = old.name.as_ref().filter(|name| !name.is_empty());
        let name = name.map(|name| self.names.fresh(name, None));
        let mut metadata = old.metadata.clone();
        merge(&mut metadata, &self.caller.metadata);
        let doc = old.doc.clone().or_else(|| self.caller.doc.clone());
        let attrs: Vec<Attribute> = old.attrs.iter().filter_map(|attr| self.resolve(attr)).collect();
        let made =
            Node { graph, inputs, outputs: outputs.clone(), name, metadata, doc, attrs: Vec::new(), ..old };
        let id = self.model.nodes.push(made);
        for (output, value) in (0u32..).zip(outputs) {
            if let Some(value) = value {
                self.model.values[value].def = Def::Node { node: id, output };
            }
        }
        self.model.nodes[id].attrs = attrs.into_iter().map(|attr| self.attribute(attr, id)).collect();
        id
    }

    /// Returns the copy of a value that the body defines, creating it if necessary.
    fn value(&mut self, value: ValueId, graph: GraphId) -> ValueId {
        if let Some(&Some(known)) = self.values.get(&value) {
            return known;
        }
        let old = &self.model.values[value];
        let (name, initial): (Arc<str>, _) = (old.name.clone(), old.initial.clone());
        let name = self.names.fresh(&name, None);
        let new = self.model.values.push(Value { name, graph, def: Def::Missing, initial });
        self.values.insert(value, Some(new));
        new
    }

    /// Copies the subgraphs of an attribute.
    fn attribute(&mut self, attr: Attribute, owner: NodeId) -> Attribute {
        let value = match &attr.value {
            AttrValue::Graph(body) => AttrValue::Graph(self.graph(*body, owner)),
            AttrValue::Graphs(bodies) => {
                AttrValue::Graphs(bodies.iter().map(|&body| self.graph(body, owner)).collect())
            }
            _ => return attr,
        };
        Attribute { value, ..attr }
    }

    /// Copies a subgraph and its nested subgraphs, whose depth the reader limits.
    fn graph(&mut self, body: GraphId, owner: NodeId) -> GraphId {
        let old = self.model.graphs[body].clone();
        let id = self.model.graphs.push(Graph { owner: Owner::Node(owner), ..old.clone() });
        let mut own = |values: Vec<ValueId>| -> Vec<ValueId> {
            values.into_iter().map(|value| self.value(value, id)).collect()
        };
        let inputs = own(old.inputs.iter().map(|port| port.value).collect());
        let initializers = own(old.initializers.clone());
        let sparse_initializers = own(old.sparse_initializers.clone());
        for (index, &input) in (0u32..).zip(&inputs) {
            self.model.values[input].def = Def::Input(index);
        }
        for &value in initializers.iter().chain(&sparse_initializers).filter(|value| !inputs.contains(value))
        {
            self.model.values[value].def = Def::Initializer;
        }
        let nodes = self.nodes(&old.nodes, id);
        let ports = |values: Vec<ValueId>, ports: &[Port]| -> Vec<Port> {
            let infos = ports.iter().map(|port| port.info.clone());
            values.into_iter().zip(infos).map(|(value, info)| Port { value, info }).collect()
        };
        let outputs: Vec<ValueId> =
            old.outputs.iter().map(|port| self.known(port.value).unwrap_or(port.value)).collect();
        let graph = &mut self.model.graphs[id];
        graph.inputs = ports(inputs, &old.inputs);
        graph.outputs = ports(outputs, &old.outputs);
        graph.nodes = nodes;
        graph.initializers = initializers;
        graph.sparse_initializers = sparse_initializers;
        graph.value_info.clear();
        graph.quantization.clear();
        id
    }
}
