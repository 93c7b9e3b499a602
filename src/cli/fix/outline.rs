//! Prints a model as lines in the style of ONNX text, for `--diff`.
//!
//! Constants are abbreviated as in findings, so that diffs of models with large weights stay short.

use crate::graph::syntax::{declaration, line, tensor_declaration};
use crate::graph::{GraphId, Initial, Model, Port, ValueId};

const INDENT: usize = 2;

/// Returns the outline of a model: a line for each opset import, port, dense initializer and node.
pub fn outline(model: &Model) -> String {
    let mut outline = Outline { model, text: String::new(), depth: 0 };
    outline.header();
    outline.graph("graph", model.main);
    for function in &model.functions {
        let name = function.name.as_deref().unwrap_or("");
        outline.graph(&format!("function {name}"), function.body);
    }
    outline.text
}

struct Outline<'a> {
    model: &'a Model,
    text: String,
    depth: usize,
}

impl Outline<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(&" ".repeat(self.depth * INDENT));
        // A name may contain a line break.
        self.text.push_str(&text.replace('\n', "\\n"));
        self.text.push('\n');
    }

    fn header(&mut self) {
        let model = self.model;
        self.line(&format!("ir_version: {}", model.ir_version.unwrap_or(0)));
        for import in &model.opsets {
            let domain = import.domain.as_deref().unwrap_or("");
            self.line(&format!("opset_import: \"{domain}\" {}", import.version.unwrap_or(0)));
        }
    }

    fn graph(&mut self, title: &str, id: GraphId) {
        let graph = &self.model.graphs[id];
        self.line(&format!("{title} {{"));
        self.depth += 1;
        self.ports("input", &graph.inputs);
        self.ports("output", &graph.outputs);
        for &value in &graph.initializers {
            self.initializer(value);
        }
        self.ports("value_info", &graph.value_info);
        for &node in &graph.nodes {
            self.line(&line(self.model, node).text);
            for attr in &self.model.nodes[node].attrs {
                for body in attr.value.graphs() {
                    self.graph(&format!("  {} =", attr.name), *body);
                }
            }
        }
        self.depth -= 1;
        self.line("}");
    }

    fn ports(&mut self, what: &str, ports: &[Port]) {
        for port in ports {
            self.line(&format!("{what}: {}", declaration(self.model, port)));
        }
    }

    fn initializer(&mut self, value: ValueId) {
        let value = &self.model.values[value];
        if let Some(Initial::Dense(tensor)) = value.initial {
            let declared = tensor_declaration(&self.model.tensors[tensor], &value.name);
            self.line(&format!("initializer: {declared}"));
        }
    }
}
