//! Text of a model without the names of intermediate values.
//! Models with equal nodes and constants have equal texts.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::graph::syntax::printer::attribute;
use crate::graph::syntax::{dims, tensor_declaration};
use crate::graph::{
    AttrValue, Attribute, Def, ElemType, GraphId, Model, NodeId, Port, Tensor, ValueId, order,
};
use crate::infer::{self, eval::Array};
use crate::schema::{AttrView, lookup};

/// Renders the nodes that the outputs need, each after the producers of its inputs.
/// Values are numbered, inputs are named, constants are written by content, and default attributes are
/// omitted.
pub fn text(model: &Model) -> String {
    let mut writer = Writer { model, names: FxHashMap::default(), nodes: 0, text: String::new() };
    writer.graph(model.main);
    writer.text
}

struct Writer<'m> {
    model: &'m Model,
    names: FxHashMap<ValueId, String>,
    /// Number of nodes written so far.
    nodes: usize,
    text: String,
}

impl Writer<'_> {
    fn graph(&mut self, graph: GraphId) {
        let order: FxHashMap<NodeId, usize> = order::sorted_or_file(self.model, graph)
            .into_iter()
            .enumerate()
            .map(|(at, node)| (node, at))
            .collect();
        // Before IR version 4, constants are inputs, too.
        let is_given = |port: &&Port| self.model.constant(port.value).is_none();
        for port in self.model.graphs[graph].inputs.iter().filter(is_given) {
            let name = self.model.values[port.value].name.to_string();
            self.names.insert(port.value, name);
        }
        let outputs: Vec<String> =
            self.model.graphs[graph].outputs.iter().map(|port| self.value(port.value, &order)).collect();
        let _ = writeln!(self.text, "return {}", outputs.join(", "));
    }

    fn value(&mut self, value: ValueId, order: &FxHashMap<NodeId, usize>) -> String {
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        if let Some(tensor) = self.model.constant(value) {
            return tensor_text(tensor);
        }
        match self.model.values[value].def {
            Def::Node { node, .. } => {
                self.node(node, order);
                self.names[&value].clone()
            }
            _ => format!("captured {}", self.model.values[value].name),
        }
    }

    fn node(&mut self, id: NodeId, order: &FxHashMap<NodeId, usize>) {
        let node = self.model.nodes[id].clone();
        if node.op_name() == "Constant" {
            let name = node.attrs.first().map_or_else(String::new, |attr| self.constant_node(attr));
            self.names.extend(node.outputs.first().copied().flatten().map(|value| (value, name)));
            return;
        }
        let inputs: Vec<String> = node
            .inputs
            .iter()
            .map(|input| input.map_or("\"\"".into(), |value| self.value(value, order)))
            .collect();
        let schema = self
            .model
            .opset(node.graph, node.domain())
            .and_then(|opset| lookup(node.domain(), &node.op_type, opset as u16));
        let at_default = |attr: &&Attribute| {
            let spec = schema.and_then(|schema| schema.attr(&attr.name));
            spec.is_some_and(|spec| spec.is_default(AttrView::from(&attr.value)))
        };
        let written: Vec<Attribute> = node.attrs.iter().filter(|attr| !at_default(attr)).cloned().collect();
        let mut attrs: Vec<String> = written.iter().map(|attr| self.attr(attr)).collect();
        attrs.sort();
        let number = self.nodes;
        self.nodes += 1;
        let mut outputs = Vec::new();
        for (at, output) in node.outputs.iter().enumerate() {
            let name = format!("v{number}.{at}");
            if let Some(value) = output {
                self.names.insert(*value, name.clone());
            }
            outputs.push(name);
        }
        let (outputs, inputs) = (outputs.join(", "), inputs.join(", "));
        let _ = writeln!(self.text, "{outputs} = {} <{}> ({inputs})", node.op_name(), attrs.join(", "));
    }

    fn constant_node(&self, attr: &Attribute) -> String {
        let ints = |ints: &[i64], shape| Array::i64s(shape, ints.to_vec()).map(|array| constant(&array));
        let floats = |floats: &[f32], shape| {
            let wide = floats.iter().map(|&x| f64::from(x)).collect();
            Array::from_f64s(ElemType::Float, shape, wide).map(|array| constant(&array))
        };
        let text = match &attr.value {
            AttrValue::Tensor(id) => return tensor_text(&self.model.tensors[*id]),
            AttrValue::Int(int) => ints(&[*int], vec![]),
            AttrValue::Ints(all) => ints(all, vec![all.len()]),
            AttrValue::Float(float) => floats(&[*float], vec![]),
            AttrValue::Floats(all) => floats(all, vec![all.len()]),
            _ => return attribute(self.model, attr),
        };
        text.unwrap_or_else(|_| attribute(self.model, attr))
    }

    fn attr(&mut self, attr: &Attribute) -> String {
        match &attr.value {
            AttrValue::Tensor(id) => format!("{} = {}", attr.name, tensor_text(&self.model.tensors[*id])),
            AttrValue::Graph(graph) => {
                let mut inner = Writer {
                    model: self.model,
                    names: self.names.clone(),
                    nodes: self.nodes,
                    text: String::new(),
                };
                inner.graph(*graph);
                format!("{} = {{{}}}", attr.name, inner.text)
            }
            AttrValue::Tensors(tensors) => {
                let tensors: Vec<String> =
                    tensors.iter().map(|id| tensor_text(&self.model.tensors[*id])).collect();
                format!("{} = [{}]", attr.name, tensors.join(", "))
            }
            AttrValue::SparseTensor(sparse) => {
                let text = |tensor: &Option<Tensor>| tensor.as_ref().map_or_else(String::new, tensor_text);
                let (values, indices) = (text(&sparse.values), text(&sparse.indices));
                format!("{} = sparse{} {values} at {indices}", attr.name, dims(&sparse.dims))
            }
            _ => attribute(self.model, attr),
        }
    }
}

fn tensor_text(tensor: &Tensor) -> String {
    infer::array(tensor).map_or_else(|| tensor_declaration(tensor, ""), |array| constant(&array))
}

fn constant(array: &Array) -> String {
    array.text(usize::MAX)
}
