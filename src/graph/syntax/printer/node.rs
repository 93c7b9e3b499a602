//! Printing of nodes, attributes and tensors.

use crate::graph::syntax::number::write_float;
use crate::graph::syntax::span::Span;
use crate::graph::{AttrValue, Attribute, ElemType, Initial, Node, NodeId, Tensor, TensorData, ValueId};

use super::elements::push_elements;
use super::{INDENT, NodeSpans, Printer, push_quoted, types};

impl Printer<'_> {
    /// Prints a node and its subgraphs.
    pub(super) fn node(&mut self, id: NodeId) {
        let node = &self.model.nodes[id];
        let start = self.out.len();
        if let Some(name) = &node.name {
            self.push("[");
            self.name(name);
            self.push("] ");
        }
        let outputs = self.operands(&node.outputs);
        self.push(" = ");
        let op = self.op(node);
        // Subgraphs are long, so the attributes of a node with subgraphs follow its inputs.
        let attributes_last = node.graphs().next().is_some();
        let mut attrs = Vec::new();
        if !attributes_last {
            attrs = self.attributes(&node.attrs);
        }
        self.push(" (");
        let inputs = self.operands(&node.inputs);
        self.push(")");
        if attributes_last {
            attrs = self.attributes(&node.attrs);
        }
        let whole = Span::new(start, self.out.len());
        self.nodes.insert(id, NodeSpans { whole, op, outputs, inputs, attrs });
    }

    fn op(&mut self, node: &Node) -> Span {
        let start = self.out.len();
        if let Some(domain) = node.domain.as_deref().filter(|domain| !domain.is_empty()) {
            self.push(domain);
            self.push(".");
        }
        self.push(&node.op_type);
        if let Some(overload) = node.overload.as_deref().filter(|overload| !overload.is_empty()) {
            self.push(":");
            self.push(overload);
        }
        Span::new(start, self.out.len())
    }

    fn operands(&mut self, operands: &[Option<ValueId>]) -> Vec<Span> {
        let mut spans = Vec::with_capacity(operands.len());
        self.separated(", ", operands, |printer, operand| {
            let start = printer.out.len();
            printer.name(operand.map_or("", |value| &printer.model.values[value].name));
            spans.push(Span::new(start, printer.out.len()));
        });
        spans
    }

    fn attributes(&mut self, attrs: &[Attribute]) -> Vec<Span> {
        let mut spans = Vec::with_capacity(attrs.len());
        if attrs.is_empty() {
            return spans;
        }
        self.push(" <");
        self.separated(", ", attrs, |printer, attr| {
            let start = printer.out.len();
            printer.attribute(attr);
            spans.push(Span::new(start, printer.out.len()));
        });
        self.push(">");
        spans
    }

    /// Prints an attribute.
    pub(super) fn attribute(&mut self, attr: &Attribute) {
        self.push(&attr.name);
        if let Some(kind) = attr.value.kind() {
            self.push(": ");
            self.push(kind.name());
        }
        self.push(" = ");
        self.attr_value(&attr.value);
    }

    fn attr_value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Float(float) => self.push(&write_float(*float)),
            AttrValue::Int(int) => self.push(&int.to_string()),
            AttrValue::String(text) => self.quoted(text),
            AttrValue::Floats(floats) => {
                self.listed(floats, |printer, &item| printer.push(&write_float(item)))
            }
            AttrValue::Ints(ints) => self.listed(ints, |printer, item| printer.push(&item.to_string())),
            AttrValue::Strings(texts) => self.listed(texts, |printer, text| printer.quoted(text)),
            AttrValue::Tensor(tensor) => self.tensor(&self.model.tensors[*tensor]),
            AttrValue::Tensors(tensors) => {
                self.listed(tensors, |printer, &tensor| printer.tensor(&printer.model.tensors[tensor]));
            }
            AttrValue::Type(ty) => types::push_type(&mut self.out, ty),
            AttrValue::Types(types) => {
                self.listed(types, |printer, ty| types::push_type(&mut printer.out, ty))
            }
            AttrValue::Graph(graph) => self.indented(|printer| printer.graph(&printer.model.graphs[*graph])),
            AttrValue::Graphs(graphs) => self.indented(|printer| {
                printer.listed(graphs, |printer, &graph| printer.graph(&printer.model.graphs[graph]));
            }),
            AttrValue::Ref { name, .. } => {
                self.push("@");
                self.name(name);
            }
            // ONNX text has no syntax for sparse tensors and undefined attributes.
            AttrValue::SparseTensor(_) | AttrValue::SparseTensors(_) | AttrValue::Undefined(_) => {
                self.push("...")
            }
        }
    }

    fn quoted(&mut self, text: &[u8]) {
        push_quoted(&mut self.out, &String::from_utf8_lossy(text));
    }

    fn listed<T>(&mut self, items: &[T], print: impl FnMut(&mut Self, &T)) {
        self.push("[");
        self.separated(", ", items, print);
        self.push("]");
    }

    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.indent += INDENT;
        print(self);
        self.indent -= INDENT;
    }

    fn tensor(&mut self, tensor: &Tensor) {
        types::push_dims(&mut self.out, tensor.data_type, &tensor.dims);
        if let Some(name) = tensor.name.as_deref().filter(|name| !name.is_empty()) {
            self.push(" ");
            self.name(name);
        }
        self.data(tensor);
    }

    /// Prints the type, name and elements of an initializer.
    pub(super) fn initializer(&mut self, value: ValueId) {
        let value = &self.model.values[value];
        let Some(Initial::Dense(tensor)) = &value.initial else { return };
        let tensor = &self.model.tensors[*tensor];
        types::push_dims(&mut self.out, tensor.data_type, &tensor.dims);
        self.push(" ");
        self.name(&value.name);
        self.push(" = ");
        self.data(tensor);
    }

    fn data(&mut self, tensor: &Tensor) {
        if let TensorData::External(place) = &tensor.data {
            self.metadata(place);
            return;
        }
        // As in onnx's printer: strings are written as `{"a", "b"}`, and other elements as ` {1,2}`.
        let is_string = tensor.elem() == Some(ElemType::String);
        let (open, separator) = if is_string { ("{", ", ") } else { (" {", ",") };
        let start = self.out.len();
        self.push(open);
        if push_elements(&mut self.out, tensor, separator, usize::MAX) {
            self.push("}");
        } else {
            self.out.truncate(start);
            self.push("...");
        }
    }
}
