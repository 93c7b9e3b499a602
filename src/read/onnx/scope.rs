//! Converts messages that define and reference names: model, graphs, nodes, attributes and functions.

use std::sync::Arc;

use prost::Message;

use super::messages::Messages;
use super::sparse::Sparse;
use crate::graph::names::Scopes;
use crate::graph::{
    Arena, AttrKind, AttrValue, Attribute, Def, Function, Graph, GraphId, Initial, Model, Node, NodeId,
    Owner, Port, ValueId,
};
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto,
};

/// Builder of a model from its messages. [`Scopes`] resolves names to values.
#[derive(Default)]
pub struct Builder {
    messages: Messages,
    scopes: Scopes,
    model: Model,
}

impl Builder {
    /// Creates a builder for a copy with placeholders for large tensors.
    pub fn of_sparse(sparse: Sparse) -> Self {
        let mut builder = Builder::default();
        builder.messages.sparse = Some(sparse);
        builder
    }

    /// Converts a model with all its graphs and functions.
    pub fn model(mut self, proto: ModelProto) -> Model {
        self.model = Model {
            ir_version: proto.ir_version,
            opsets: self.messages.opsets(proto.opset_import),
            producer_name: self.messages.optional(proto.producer_name),
            producer_version: self.messages.optional(proto.producer_version),
            domain: self.messages.optional(proto.domain),
            model_version: proto.model_version,
            doc: self.messages.optional(proto.doc_string),
            metadata: self.messages.metadata(proto.metadata_props),
            training_info: proto.training_info.iter().map(|info| info.encode_to_vec().into()).collect(),
            configuration: proto.configuration.iter().map(|device| device.encode_to_vec().into()).collect(),
            graphs: Arena::default(),
            ..Model::new()
        };
        self.model.main = self.graph(proto.graph.unwrap_or_default(), Owner::Model);
        for function in proto.functions {
            self.function(function);
        }
        self.model
    }

    fn graph(&mut self, proto: GraphProto, owner: Owner) -> GraphId {
        let id = self.model.graphs.push(Graph::new(owner));
        self.scopes.enter();
        let graph = Graph {
            owner,
            name: self.messages.optional(proto.name),
            doc: self.messages.optional(proto.doc_string),
            metadata: self.messages.metadata(proto.metadata_props),
            quantization: proto
                .quantization_annotation
                .into_iter()
                .map(|annotation| self.messages.annotation(annotation))
                .collect(),
            inputs: self.inputs(id, proto.input),
            initializers: self.initializers(id, proto.initializer),
            sparse_initializers: self.sparse_initializers(id, proto.sparse_initializer),
            nodes: self.nodes(id, proto.node),
            value_info: self.ports(id, proto.value_info),
            outputs: self.ports(id, proto.output),
        };
        self.scopes.leave();
        self.model.graphs[id] = graph;
        id
    }

    fn function(&mut self, proto: FunctionProto) {
        let index = self.model.functions.len();
        let body = self.model.graphs.push(Graph::new(Owner::Function(index)));
        self.scopes.enter();
        let named = |name: String| ValueInfoProto { name: Some(name), ..ValueInfoProto::default() };
        let graph = Graph {
            inputs: self.inputs(body, proto.input.into_iter().map(named).collect()),
            nodes: self.nodes(body, proto.node),
            value_info: self.ports(body, proto.value_info),
            outputs: self.ports(body, proto.output.into_iter().map(named).collect()),
            doc: self.messages.optional(proto.doc_string),
            metadata: self.messages.metadata(proto.metadata_props),
            ..Graph::new(Owner::Function(index))
        };
        self.model.graphs[body] = graph;
        let function = Function {
            body,
            name: self.messages.optional(proto.name),
            domain: self.messages.optional(proto.domain),
            overload: self.messages.optional(proto.overload),
            attributes: proto.attribute.iter().map(|name| self.messages.text(name)).collect(),
            attribute_defaults: proto
                .attribute_proto
                .into_iter()
                .map(|attr| self.attribute(attr, None))
                .collect(),
            opsets: self.messages.opsets(proto.opset_import),
        };
        self.scopes.leave();
        self.model.functions.push(function);
    }

    fn inputs(&mut self, graph: GraphId, inputs: Vec<ValueInfoProto>) -> Vec<Port> {
        let input = |(index, mut info): (usize, ValueInfoProto)| {
            let name = self.messages.text(&info.name.take().unwrap_or_default());
            let value = self.scopes.define(&mut self.model, graph, name, Def::Input(index as u32));
            Port { value, info: self.messages.value_info(info) }
        };
        inputs.into_iter().enumerate().map(input).collect()
    }

    fn initializers(&mut self, graph: GraphId, tensors: Vec<TensorProto>) -> Vec<ValueId> {
        let initializer = |proto: TensorProto| {
            let tensor = self.messages.tensor(proto);
            let name = tensor.name.clone().unwrap_or_default();
            let tensor = self.model.tensors.push(tensor);
            self.scopes.initialize(&mut self.model, graph, &name, Initial::Dense(tensor))
        };
        tensors.into_iter().map(initializer).collect()
    }

    fn sparse_initializers(
        &mut self,
        graph: GraphId,
        tensors: Vec<crate::proto::SparseTensorProto>,
    ) -> Vec<ValueId> {
        let initializer = |proto| {
            let sparse = self.messages.sparse(proto);
            let name = sparse.values.as_ref().and_then(|values| values.name.clone()).unwrap_or_default();
            let initial = Initial::Sparse(Box::new(sparse));
            self.scopes.initialize(&mut self.model, graph, &name, initial)
        };
        tensors.into_iter().map(initializer).collect()
    }

    fn ports(&mut self, graph: GraphId, infos: Vec<ValueInfoProto>) -> Vec<Port> {
        let port = |mut info: ValueInfoProto| {
            let name = self.messages.text(&info.name.take().unwrap_or_default());
            let value = self.scopes.resolve(&mut self.model, graph, &name);
            Port { value, info: self.messages.value_info(info) }
        };
        infos.into_iter().map(port).collect()
    }

    /// Converts nodes in two passes: first their outputs, then their inputs and attributes.
    fn nodes(&mut self, graph: GraphId, protos: Vec<NodeProto>) -> Vec<NodeId> {
        let mut nodes = Vec::with_capacity(protos.len());
        let mut uses = Vec::with_capacity(protos.len());
        for mut proto in protos {
            uses.push((std::mem::take(&mut proto.input), std::mem::take(&mut proto.attribute)));
            let outputs = std::mem::take(&mut proto.output);
            let node = self.model.nodes.push(self.messages.node(graph, proto));
            self.model.nodes[node].outputs = self.node_outputs(graph, node, outputs);
            nodes.push(node);
        }
        for (&node, (inputs, attributes)) in nodes.iter().zip(uses) {
            let input = |name: String| match &*name {
                "" => None,
                name => {
                    let name = self.messages.text(name);
                    Some(self.scopes.resolve(&mut self.model, graph, &name))
                }
            };
            self.model.nodes[node].inputs = inputs.into_iter().map(input).collect();
            let mut attrs: Vec<_> =
                attributes.into_iter().map(|attr| self.attribute(attr, Some(node))).collect();
            // `collect` reuses the allocation of the protobuf attributes, whose items are much larger.
            attrs.shrink_to_fit();
            self.model.nodes[node].attrs = attrs;
            for &output in self.model.nodes[node].outputs.iter().flatten() {
                self.scopes.reach(&self.model.values[output].name, output);
            }
        }
        nodes
    }

    fn node_outputs(&mut self, graph: GraphId, node: NodeId, names: Vec<String>) -> Vec<Option<ValueId>> {
        let output = |(index, name): (usize, String)| match &*name {
            "" => None,
            name => {
                let def = Def::Node { node, output: index as u32 };
                let name = self.messages.text(name);
                Some(self.scopes.define(&mut self.model, graph, name, def))
            }
        };
        names.into_iter().enumerate().map(output).collect()
    }

    /// Converts an attribute; `owner` is the node that owns the subgraphs of the attribute.
    ///
    /// The default of a function attribute has neither an owner nor subgraphs.
    fn attribute(&mut self, proto: AttributeProto, owner: Option<NodeId>) -> Attribute {
        Attribute {
            name: self.messages.text(proto.name()),
            doc: proto.doc_string.as_deref().map(|doc| self.messages.text(doc)),
            typed: proto.r#type.is_some(),
            value: self.attr_value(proto, owner),
        }
    }

    fn attr_value(&mut self, proto: AttributeProto, owner: Option<NodeId>) -> AttrValue {
        let stated = proto.r#type.filter(|&number| number != 0).and_then(AttrKind::from_number);
        if let Some(name) = proto.ref_attr_name.as_deref().filter(|name| !name.is_empty()) {
            return AttrValue::Ref { name: self.messages.text(name), kind: stated };
        }
        let Some(kind) = stated.or_else(|| filled(&proto)) else { return AttrValue::Undefined(proto.r#type) };
        let undefined = AttrValue::Undefined(proto.r#type);
        match kind {
            AttrKind::Float => proto.f.map_or(undefined, AttrValue::Float),
            AttrKind::Int => proto.i.map_or(undefined, AttrValue::Int),
            AttrKind::String => proto.s.map_or(undefined, AttrValue::String),
            AttrKind::Floats => AttrValue::Floats(proto.floats),
            AttrKind::Ints => AttrValue::Ints(proto.ints),
            AttrKind::Strings => AttrValue::Strings(proto.strings),
            AttrKind::Tensor => proto.t.map_or(undefined, |tensor| AttrValue::Tensor(self.tensor(tensor))),
            AttrKind::Tensors => {
                AttrValue::Tensors(proto.tensors.into_iter().map(|tensor| self.tensor(tensor)).collect())
            }
            AttrKind::Graph => match (proto.g, owner) {
                (Some(graph), Some(owner)) => AttrValue::Graph(self.graph(graph, Owner::Node(owner))),
                _ => undefined,
            },
            AttrKind::Graphs => match owner {
                Some(owner) => AttrValue::Graphs(
                    proto.graphs.into_iter().map(|graph| self.graph(graph, Owner::Node(owner))).collect(),
                ),
                None => undefined,
            },
            AttrKind::SparseTensor => proto
                .sparse_tensor
                .map_or(undefined, |sparse| AttrValue::SparseTensor(Box::new(self.messages.sparse(sparse)))),
            AttrKind::SparseTensors => AttrValue::SparseTensors(
                proto.sparse_tensors.into_iter().map(|sparse| self.messages.sparse(sparse)).collect(),
            ),
            AttrKind::Type => {
                proto.tp.map_or(undefined, |ty| AttrValue::Type(Box::new(self.messages.ty(ty))))
            }
            AttrKind::Types => {
                AttrValue::Types(proto.type_protos.into_iter().map(|ty| self.messages.ty(ty)).collect())
            }
        }
    }

    fn tensor(&mut self, proto: TensorProto) -> crate::graph::TensorId {
        let tensor = self.messages.tensor(proto);
        self.model.tensors.push(tensor)
    }
}

impl Messages {
    /// Converts a node without its inputs, outputs and attributes.
    fn node(&mut self, graph: GraphId, proto: NodeProto) -> Node {
        let op_type: Arc<str> = self.text(proto.op_type());
        Node {
            graph,
            op_type,
            domain: self.optional(proto.domain),
            overload: self.optional(proto.overload),
            name: self.optional(proto.name),
            inputs: Vec::new(),
            outputs: Vec::new(),
            attrs: Vec::new(),
            doc: self.optional(proto.doc_string),
            metadata: self.metadata(proto.metadata_props),
            device_configurations: proto
                .device_configurations
                .iter()
                .map(|device| device.encode_to_vec().into())
                .collect(),
        }
    }
}

/// Returns the kind of an attribute without a stated type (IR 1), by the field that is set.
fn filled(proto: &AttributeProto) -> Option<AttrKind> {
    let fields = [
        (proto.f.is_some(), AttrKind::Float),
        (proto.i.is_some(), AttrKind::Int),
        (proto.s.is_some(), AttrKind::String),
        (proto.t.is_some(), AttrKind::Tensor),
        (proto.g.is_some(), AttrKind::Graph),
        (proto.sparse_tensor.is_some(), AttrKind::SparseTensor),
        (proto.tp.is_some(), AttrKind::Type),
        (!proto.floats.is_empty(), AttrKind::Floats),
        (!proto.ints.is_empty(), AttrKind::Ints),
        (!proto.strings.is_empty(), AttrKind::Strings),
        (!proto.tensors.is_empty(), AttrKind::Tensors),
        (!proto.graphs.is_empty(), AttrKind::Graphs),
        (!proto.sparse_tensors.is_empty(), AttrKind::SparseTensors),
        (!proto.type_protos.is_empty(), AttrKind::Types),
    ];
    fields.into_iter().find_map(|(is_filled, kind)| is_filled.then_some(kind))
}
