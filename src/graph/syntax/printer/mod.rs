//! Prints models as ONNX text, with the span of every node.
//!
//! The output equals that of onnx's printer, with additions that onnx's parser accepts but its printer omits:
//! elements of types narrower than a byte, dense complex tensors, and a function's attribute defaults, doc
//! string and value infos.

mod declaration;
mod elements;
mod line;
mod node;
mod types;

use std::collections::BTreeMap;
use std::fmt::Display;

use super::lexer::is_identifier;
use super::span::Span;
use crate::graph::{Attribute, Function, Graph, GraphId, Metadata, Model, NodeId, OpsetImport, Port};

pub use declaration::{declaration, tensor_declaration};
pub use elements::push_elements;
pub use line::{Line, line};

/// A model as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub text: String,
    pub nodes: BTreeMap<NodeId, NodeSpans>,
}

/// Spans of a node and of its operator, outputs, inputs and attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSpans {
    pub whole: Span,
    /// The operator with its domain.
    pub op: Span,
    /// One span per output, including absent ones.
    pub outputs: Vec<Span>,
    /// One span per input, including absent ones.
    pub inputs: Vec<Span>,
    /// One span per attribute, from its name to the end of its value.
    pub attrs: Vec<Span>,
}

/// Prints a whole model.
pub fn print(model: &Model) -> Printed {
    let mut printer = Printer::new(model);
    printer.model();
    Printed { text: printer.out, nodes: printer.nodes }
}

/// Prints one graph of a model, including its subgraphs.
pub fn print_graph(model: &Model, graph: GraphId) -> Printed {
    let mut printer = Printer::new(model);
    printer.graph(&model.graphs[graph]);
    Printed { text: printer.out, nodes: printer.nodes }
}

/// Prints an attribute with its kind: `perm: ints = [1, 0]`.
pub fn attribute(model: &Model, attr: &Attribute) -> String {
    let mut printer = Printer::new(model);
    printer.attribute(attr);
    printer.out
}

/// Formats dimensions: `[2,3]`.
pub fn dims(dims: &[impl Display]) -> String {
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("[{}]", dims.join(","))
}

/// Formats a string with quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, text);
    out
}

/// Number of spaces per nesting level.
const INDENT: usize = 3;

struct Printer<'m> {
    model: &'m Model,
    out: String,
    indent: usize,
    nodes: BTreeMap<NodeId, NodeSpans>,
}

impl<'m> Printer<'m> {
    fn new(model: &'m Model) -> Self {
        Printer { model, out: String::new(), indent: INDENT, nodes: BTreeMap::new() }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Prints items with `separator` between them.
    fn separated<T>(
        &mut self,
        separator: &str,
        items: impl IntoIterator<Item = T>,
        mut print: impl FnMut(&mut Self, T),
    ) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            print(self, item);
        }
    }

    fn name(&mut self, name: &str) {
        push_name(&mut self.out, name);
    }

    /// Prints the comma that ends the previous line, and a header line; nothing without a `value`.
    fn entry(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.push(",\n   ");
            self.push(key);
            self.push(": ");
            push_quoted(&mut self.out, value);
        }
    }

    fn model(&mut self) {
        let model = self.model;
        self.push("<\n   ir_version: ");
        self.push(&model.ir_version.unwrap_or(0).to_string());
        self.push(",\n   opset_import: ");
        self.opsets(&model.opsets, ", ");
        self.entry("producer_name", model.producer_name.as_deref());
        self.entry("producer_version", model.producer_version.as_deref());
        self.entry("domain", model.domain.as_deref());
        if let Some(version) = model.model_version {
            self.push(&format!(",\n   model_version: {version}"));
        }
        self.entry("doc_string", model.doc.as_deref());
        if !model.metadata.is_empty() {
            self.push(",\n   metadata_props: ");
            self.metadata(&model.metadata);
        }
        self.push("\n>\n");
        self.graph(&model.graphs[model.main]);
        for function in &model.functions {
            self.push("\n");
            self.function(function);
        }
    }

    fn opsets(&mut self, opsets: &[OpsetImport], separator: &str) {
        self.push("[");
        self.separated(separator, opsets, |printer, import| {
            push_quoted(&mut printer.out, import.domain.as_deref().unwrap_or(""));
            printer.push(&format!(" : {}", import.version.unwrap_or(0)));
        });
        self.push("]");
    }

    fn metadata(&mut self, metadata: &Metadata) {
        self.push("[");
        self.separated(", ", metadata, |printer, (key, value)| {
            push_quoted(&mut printer.out, key);
            printer.push(": ");
            push_quoted(&mut printer.out, value);
        });
        self.push("]");
    }

    fn graph(&mut self, graph: &Graph) {
        self.name(graph.name.as_deref().unwrap_or(""));
        self.push(" (");
        self.separated(", ", &graph.inputs, Self::port);
        self.push(") => (");
        self.separated(", ", &graph.outputs, Self::port);
        self.push(") ");
        if !graph.initializers.is_empty() || !graph.value_info.is_empty() {
            self.push("\n");
            self.push(&" ".repeat(self.indent));
            self.push("<");
            self.separated(", ", &graph.initializers, |printer, &value| printer.initializer(value));
            if !graph.initializers.is_empty() && !graph.value_info.is_empty() {
                self.push(", ");
            }
            self.separated(", ", &graph.value_info, Self::port);
            self.push(">\n");
        }
        self.node_list(&graph.nodes);
    }

    fn port(&mut self, port: &Port) {
        if let Some(ty) = &port.info.ty {
            types::push_type(&mut self.out, ty);
        }
        self.push(" ");
        self.name(&self.model.values[port.value].name);
    }

    fn node_list(&mut self, nodes: &[NodeId]) {
        self.push("{\n");
        for &node in nodes {
            self.push(&" ".repeat(self.indent));
            self.node(node);
            self.push("\n");
        }
        if self.indent > INDENT {
            self.push(&" ".repeat(self.indent - INDENT));
        }
        self.push("}");
    }

    fn function(&mut self, function: &Function) {
        let body = &self.model.graphs[function.body];
        self.push("<\n  domain: ");
        push_quoted(&mut self.out, function.domain.as_deref().unwrap_or(""));
        let optional = [("overload", &function.overload), ("doc_string", &body.doc)];
        for (key, value) in optional {
            if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
                self.push(&format!(",\n  {key}: "));
                push_quoted(&mut self.out, value);
            }
        }
        self.push(",\n  opset_import: ");
        self.opsets(&function.opsets, ",");
        self.push("\n>\n");
        self.name(function.name.as_deref().unwrap_or(""));
        self.push(" ");
        self.function_attributes(function);
        let port = |printer: &mut Self, port: &Port| printer.name(&printer.model.values[port.value].name);
        self.push("(");
        self.separated(", ", &body.inputs, port);
        self.push(") => (");
        self.separated(", ", &body.outputs, port);
        self.push(")\n");
        if !body.value_info.is_empty() {
            self.push("<");
            self.separated(", ", &body.value_info, Self::port);
            self.push(">\n");
        }
        self.node_list(&body.nodes);
    }

    fn function_attributes(&mut self, function: &Function) {
        if function.attributes.is_empty() && function.attribute_defaults.is_empty() {
            return;
        }
        self.push("<");
        self.separated(",", &function.attributes, |printer, name| printer.name(name));
        if !function.attributes.is_empty() && !function.attribute_defaults.is_empty() {
            self.push(",");
        }
        self.separated(",", &function.attribute_defaults, |printer, attr| printer.attribute(attr));
        self.push(">");
    }
}

/// Formats a name, quoted unless it is an identifier.
pub fn named(name: &str) -> String {
    let mut out = String::new();
    push_name(&mut out, name);
    out
}

fn push_name(out: &mut String, name: &str) {
    if is_identifier(name) { out.push_str(name) } else { push_quoted(out, name) }
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        if matches!(char, '"' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out.push('"');
}
