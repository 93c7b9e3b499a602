//! Subgraphs of If, Loop and Scan nodes.

use super::builder::Builder;
use crate::graph::{AttrValue, Attribute, Def, Graph, GraphId, Owner, Port, Type, ValueId, ValueInfo};
use crate::torch;

impl Builder<'_> {
    /// Builds a subgraph: `say` runs while the subgraph is the current graph.
    pub(super) fn body(
        &mut self,
        say: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<GraphId, String> {
        let outer = self.graph;
        let graph = Graph { name: Some(self.fresh("body")), ..Graph::new(Owner::Model) };
        self.graph = self.model.graphs.push(graph);
        let inner = self.graph;
        let said = say(self);
        self.graph = outer;
        said.map(|()| inner)
    }

    /// Adds an input to the current subgraph.
    pub(super) fn body_input(&mut self, name: &str, ty: Type) -> ValueId {
        let position = self.model.graphs[self.graph].inputs.len() as u32;
        let value = self.value(name, Def::Input(position));
        self.learn(value, &ty);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].inputs.push(Port { value, info });
        value
    }

    /// Adds an output to the current subgraph.
    /// An Identity node computes the output: `value` may come from an outer graph or be returned twice.
    pub(super) fn give_one(&mut self, value: ValueId, ty: Type) {
        let value = self.onnx("Identity", vec![Some(value)], Vec::new());
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].outputs.push(Port { value, info });
    }

    /// Adds an `If`, `Loop` or `Scan` node, and defines its outputs.
    pub(super) fn results(
        &mut self,
        results: &[torch::ValueId],
        op: &str,
        inputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
    ) {
        let mut outputs = Vec::new();
        for &output in results {
            self.writes.forget(output);
            for &part in self.parts(output) {
                let value = self.output(output, part);
                self.define(output, part, value);
                outputs.push(Some(value));
            }
        }
        self.add_with_bodies(op, inputs, outputs, attrs);
    }

    /// Adds an ONNX node, which owns the subgraphs among its attributes.
    pub(super) fn add_with_bodies(
        &mut self,
        op: &str,
        inputs: Vec<Option<ValueId>>,
        outputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
    ) {
        let bodies: Vec<GraphId> = attrs.iter().flat_map(|attr| attr.value.graphs()).copied().collect();
        let node = self.add(("", op), inputs, outputs, attrs);
        for body in bodies {
            self.model.graphs[body].owner = Owner::Node(node);
        }
    }
}

/// Returns the attributes of a Scan that reads `count` inputs slice by slice.
pub(super) fn scan(body: GraphId, count: usize) -> Vec<Attribute> {
    vec![
        Attribute::new("body", AttrValue::Graph(body)),
        Attribute::new("num_scan_inputs", AttrValue::Int(count as i64)),
    ]
}
