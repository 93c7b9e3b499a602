//! Converts messages that define or reference names: models, graphs, nodes, attributes and functions.

use bytes::Bytes;
use prost::Message;

use super::messages::{annotation, metadata, opsets, optional, sparse, tensor, ty, value_info};
use crate::graph::{AttrValue, Attribute, Function, GraphId, Initial, Model, Node, Port, ValueId};
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto,
};

/// Converts a model to its protobuf message.
pub fn model(model: &Model) -> ModelProto {
    ModelProto {
        ir_version: model.ir_version,
        opset_import: opsets(&model.opsets),
        producer_name: optional(&model.producer_name),
        producer_version: optional(&model.producer_version),
        domain: optional(&model.domain),
        model_version: model.model_version,
        doc_string: optional(&model.doc),
        graph: Some(graph(model, model.main)),
        metadata_props: metadata(&model.metadata),
        training_info: decoded(&model.training_info),
        functions: model.functions.iter().map(|one| function(model, one)).collect(),
        configuration: decoded(&model.configuration),
    }
}

/// Decodes messages that are kept in encoded form.
///
/// The reader encoded these messages, so decoding cannot fail.
fn decoded<M: Message + Default>(messages: &[Bytes]) -> Vec<M> {
    messages.iter().filter_map(|message| M::decode(message.clone()).ok()).collect()
}

fn name(model: &Model, value: Option<ValueId>) -> String {
    value.map(|value| model.values[value].name.to_string()).unwrap_or_default()
}

fn graph(model: &Model, id: GraphId) -> GraphProto {
    let graph = &model.graphs[id];
    let ports = |ports: &[Port]| {
        ports.iter().map(|port| value_info(&model.values[port.value].name, &port.info)).collect()
    };
    GraphProto {
        node: graph.nodes.iter().map(|&id| node(model, &model.nodes[id])).collect(),
        name: optional(&graph.name),
        initializer: graph.initializers.iter().filter_map(|&value| dense(model, value)).collect(),
        sparse_initializer: graph
            .sparse_initializers
            .iter()
            .filter_map(|&value| coordinates(model, value))
            .collect(),
        doc_string: optional(&graph.doc),
        input: ports(&graph.inputs),
        output: ports(&graph.outputs),
        value_info: ports(&graph.value_info),
        quantization_annotation: graph.quantization.iter().map(annotation).collect(),
        metadata_props: metadata(&graph.metadata),
    }
}

/// Returns the dense initializer of a value, with the current name of the value.
fn dense(model: &Model, value: ValueId) -> Option<TensorProto> {
    let value = &model.values[value];
    match value.initial.as_ref()? {
        Initial::Dense(id) => {
            let proto = tensor(&model.tensors[*id]);
            Some(TensorProto { name: Some(value.name.to_string()), ..proto })
        }
        Initial::Sparse(_) => None,
    }
}

fn coordinates(model: &Model, value: ValueId) -> Option<SparseTensorProto> {
    match model.values[value].initial.as_ref()? {
        Initial::Dense(_) => None,
        Initial::Sparse(tensor) => Some(sparse(tensor)),
    }
}

fn node(model: &Model, node: &Node) -> NodeProto {
    NodeProto {
        input: node.inputs.iter().map(|&input| name(model, input)).collect(),
        output: node.outputs.iter().map(|&output| name(model, output)).collect(),
        name: optional(&node.name),
        op_type: Some(node.op_type.to_string()),
        domain: optional(&node.domain),
        overload: optional(&node.overload),
        attribute: node.attrs.iter().map(|attr| attribute(model, attr)).collect(),
        doc_string: optional(&node.doc),
        metadata_props: metadata(&node.metadata),
        device_configurations: decoded(&node.device_configurations),
    }
}

fn function(model: &Model, function: &Function) -> FunctionProto {
    let body = &model.graphs[function.body];
    let names = |ports: &[Port]| ports.iter().map(|port| name(model, Some(port.value))).collect();
    FunctionProto {
        name: optional(&function.name),
        input: names(&body.inputs),
        output: names(&body.outputs),
        attribute: function.attributes.iter().map(|name| name.to_string()).collect(),
        attribute_proto: function.attribute_defaults.iter().map(|attr| attribute(model, attr)).collect(),
        node: body.nodes.iter().map(|&id| node(model, &model.nodes[id])).collect(),
        doc_string: optional(&body.doc),
        opset_import: opsets(&function.opsets),
        domain: optional(&function.domain),
        overload: optional(&function.overload),
        value_info: body
            .value_info
            .iter()
            .map(|port| value_info(&model.values[port.value].name, &port.info))
            .collect(),
        metadata_props: metadata(&body.metadata),
    }
}

fn attribute(model: &Model, attr: &Attribute) -> AttributeProto {
    let kind = attr.value.kind().map(|kind| kind as i32);
    let mut proto = AttributeProto {
        name: Some(attr.name.to_string()),
        doc_string: optional(&attr.doc),
        r#type: kind.filter(|_| attr.typed),
        ..AttributeProto::default()
    };
    match &attr.value {
        AttrValue::Float(float) => proto.f = Some(*float),
        AttrValue::Int(int) => proto.i = Some(*int),
        AttrValue::String(string) => proto.s = Some(string.clone()),
        AttrValue::Tensor(id) => proto.t = Some(tensor(&model.tensors[*id])),
        AttrValue::Graph(id) => proto.g = Some(graph(model, *id)),
        AttrValue::SparseTensor(tensor) => proto.sparse_tensor = Some(sparse(tensor)),
        AttrValue::Type(one) => proto.tp = Some(ty(one)),
        AttrValue::Floats(floats) => proto.floats = floats.clone(),
        AttrValue::Ints(ints) => proto.ints = ints.clone(),
        AttrValue::Strings(strings) => proto.strings = strings.clone(),
        AttrValue::Tensors(ids) => proto.tensors = ids.iter().map(|&id| tensor(&model.tensors[id])).collect(),
        AttrValue::Graphs(ids) => proto.graphs = ids.iter().map(|&id| graph(model, id)).collect(),
        AttrValue::SparseTensors(tensors) => proto.sparse_tensors = tensors.iter().map(sparse).collect(),
        AttrValue::Types(types) => proto.type_protos = types.iter().map(ty).collect(),
        AttrValue::Ref { name, .. } => proto.ref_attr_name = Some(name.to_string()),
        AttrValue::Undefined(number) => proto.r#type = *number,
    }
    proto
}
