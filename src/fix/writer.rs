//! Appends nodes to a graph, for passes that write loops.

use std::sync::Arc;

use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::Names;
use crate::graph::{
    AttrValue, Attribute, Def, GraphId, Id as _, Model, Node, NodeId, Port, Tensor, Value, ValueId, ValueInfo,
};

/// Nodes under construction.
pub struct Writer<'m> {
    pub model: &'m mut Model,
    pub names: &'m mut Names,
    /// Graph of the new nodes.
    pub graph: GraphId,
    /// Base of the names of new values.
    pub base: Arc<str>,
    /// New nodes in execution order; the caller inserts them into the graph.
    pub nodes: Vec<NodeId>,
}

impl Writer<'_> {
    /// Adds a node with one output, and returns the output.
    pub fn add(&mut self, op: &str, inputs: &[ValueId], attrs: Vec<Attribute>) -> ValueId {
        let node = NodeId::from_index(self.model.nodes.len());
        let output = self.value(Def::Node { node, output: 0 });
        let inputs = inputs.iter().copied().map(Some).collect();
        let new = Node { inputs, outputs: vec![Some(output)], attrs, ..Node::new(self.graph, op) };
        self.nodes.push(self.model.nodes.push(new));
        output
    }

    /// Adds a constant of int64 elements.
    pub fn ints(&mut self, dims: Vec<i64>, elements: &[i64]) -> ValueId {
        let tensor = self.model.tensors.push(Tensor::int64s(dims, elements));
        self.add("Constant", &[], vec![Attribute::new("value", AttrValue::Tensor(tensor))])
    }

    /// Adds nodes that compute the size of an axis as a scalar.
    pub fn size(&mut self, of: ValueId, axis: i64) -> ValueId {
        let shape = self.add("Shape", &[of], Vec::new());
        let axis = self.ints(Vec::new(), &[axis]);
        self.add("Gather", &[shape, axis], Vec::new())
    }

    /// Adds an input to the graph.
    pub fn input(&mut self, info: ValueInfo) -> ValueId {
        let index = u32::try_from(self.model.graphs[self.graph].inputs.len()).unwrap_or(u32::MAX);
        let value = self.value(Def::Input(index));
        self.model.graphs[self.graph].inputs.push(Port { value, info });
        value
    }

    fn value(&mut self, def: Def) -> ValueId {
        let name = self.names.fresh(&self.base, Some(ADAPTED_FORM.code));
        self.model.values.push(Value { name, graph: self.graph, def, initial: None })
    }
}
