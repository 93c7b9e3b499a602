//! Models as text that does not depend on names: two that compute the same with the same nodes are equal.

use std::collections::HashMap;
use std::fmt::Write;

use onnx_lint::graph::{AttrValue, Attribute, Def, GraphId, Model, NodeId, Port, ValueId, order};
use onnx_lint::infer::{self, eval::Array};
use onnx_lint::schema::{AttrView, lookup};

/// The nodes that the outputs need, in order, values by number; inputs by name, constants by content,
/// attributes at their default left out.
pub fn text(model: &Model) -> String {
    let mut writer = Writer { model, names: HashMap::new(), nodes: 0, text: String::new() };
    writer.graph(model.main);
    writer.text
}

struct Writer<'m> {
    model: &'m Model,
    names: HashMap<ValueId, String>,
    /// Nodes written so far.
    nodes: usize,
    text: String,
}

impl Writer<'_> {
    fn graph(&mut self, graph: GraphId) {
        let order: HashMap<NodeId, usize> = order::sorted_or_file(self.model, graph)
            .into_iter()
            .enumerate()
            .map(|(at, node)| (node, at))
            .collect();
        // Before IR version 4, constants are inputs too.
        let is_given = |port: &&Port| self.model.constant(port.value).is_none();
        for port in self.model.graphs[graph].inputs.iter().filter(is_given) {
            let name = self.model.values[port.value].name.to_string();
            self.names.insert(port.value, name);
        }
        let outputs: Vec<String> =
            self.model.graphs[graph].outputs.iter().map(|port| self.value(port.value, &order)).collect();
        writeln!(self.text, "return {}", outputs.join(", ")).expect("a String takes all");
    }

    fn value(&mut self, value: ValueId, order: &HashMap<NodeId, usize>) -> String {
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        if let Some(tensor) = self.model.constant(value) {
            return constant(&infer::array(tensor).expect("examples hold their constants"));
        }
        match self.model.values[value].def {
            Def::Node { node, .. } => {
                self.node(node, order);
                self.names[&value].clone()
            }
            _ => format!("captured {}", self.model.values[value].name),
        }
    }

    fn node(&mut self, id: NodeId, order: &HashMap<NodeId, usize>) {
        let node = self.model.nodes[id].clone();
        if node.op_name() == "Constant" {
            let name = self.constant_node(&node.attrs[0]);
            self.names.insert(node.outputs[0].expect("a Constant has its output"), name);
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
        writeln!(self.text, "{outputs} = {} <{}> ({inputs})", node.op_name(), attrs.join(", "))
            .expect("as above");
    }

    fn constant_node(&self, attr: &Attribute) -> String {
        let ints = |ints: &[i64], shape| constant(&Array::i64s(shape, ints.to_vec()).expect("it fits"));
        let floats = |floats: &[f32], shape| {
            let wide = floats.iter().map(|&x| f64::from(x)).collect();
            constant(&Array::from_f64s(onnx_lint::graph::ElemType::Float, shape, wide).expect("it fits"))
        };
        match &attr.value {
            AttrValue::Tensor(id) => {
                constant(&infer::array(&self.model.tensors[*id]).expect("examples hold them"))
            }
            AttrValue::Int(int) => ints(&[*int], vec![]),
            AttrValue::Ints(all) => ints(all, vec![all.len()]),
            AttrValue::Float(float) => floats(&[*float], vec![]),
            AttrValue::Floats(all) => floats(all, vec![all.len()]),
            other => format!("{other:?}"),
        }
    }

    fn attr(&mut self, attr: &Attribute) -> String {
        match &attr.value {
            AttrValue::Tensor(id) => {
                let array = infer::array(&self.model.tensors[*id]).expect("examples hold their tensors");
                format!("{} = {}", attr.name, constant(&array))
            }
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
            other => format!("{} = {other:?}", attr.name),
        }
    }
}

fn constant(array: &Array) -> String {
    format!("{}{:?} {:?}", array.elem(), array.shape(), array.to_raw())
}
