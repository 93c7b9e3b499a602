//! Host for matching rules in a plain graph: findings, repairs, lowerings and target checks.

use rustc_hash::FxHashMap;

use super::datum::Datum;
use super::host::Host;
use super::rule::OpPat;
use crate::graph::dim::Bounds;
use crate::graph::uses::Uses;
use crate::graph::{Def, GraphId, Model, Node, NodeId, Tensor, ValueId};
use crate::infer::{self, ConstValue, Fact, Facts};
use crate::schema::{self, Schema, aten};

/// Graph of a model, with its nodes indexed by operator.
pub struct PlainHost<'m> {
    pub model: &'m Model,
    pub graph: GraphId,
    pub facts: &'m Facts,
    pub uses: &'m Uses,
    /// Whether rewrites lower a program, and may compute sizes at run time.
    pub lowers: bool,
    by_op: FxHashMap<(&'m str, &'m str), Vec<NodeId>>,
}

impl<'m> PlainHost<'m> {
    /// Indexes the nodes of a graph.
    pub fn new(model: &'m Model, graph: GraphId, facts: &'m Facts, uses: &'m Uses) -> Self {
        let mut by_op: FxHashMap<(&str, &str), Vec<NodeId>> = FxHashMap::default();
        for &id in &model.graphs[graph].nodes {
            let node = &model.nodes[id];
            by_op.entry((node.domain(), &node.op_type)).or_default().push(id);
        }
        PlainHost { model, graph, facts, uses, lowers: false, by_op }
    }

    fn opset_of(&self, domain: &str) -> Option<u16> {
        u16::try_from(self.model.opset(self.graph, domain)?).ok()
    }
}

impl Host for PlainHost<'_> {
    type Value = ValueId;
    type Node = NodeId;

    fn nodes_of(&self, op: &OpPat) -> Vec<NodeId> {
        self.by_op.get(&(&*op.domain, &*op.name)).cloned().unwrap_or_default()
    }

    fn is(&self, node: NodeId, op: &OpPat) -> bool {
        let node = &self.model.nodes[node];
        let epoch =
            || self.opset_of(&op.domain).and_then(|opset| schema::lookup(&op.domain, &op.name, opset));
        *node.op_type == *op.name
            && node.domain() == &*op.domain
            && node.overload.as_deref().unwrap_or("").is_empty()
            && op.epoch.is_none_or(|wanted| epoch().is_some_and(|schema| schema.epoch == wanted))
    }

    fn producers(&self, value: ValueId) -> Vec<(NodeId, usize)> {
        let made = self.model.producer(value).filter(|(node, _)| self.model.nodes[*node].graph == self.graph);
        made.map(|(node, output)| (node, output as usize)).into_iter().collect()
    }

    fn inputs(&self, node: NodeId) -> Vec<Option<ValueId>> {
        self.model.nodes[node].inputs.clone()
    }

    fn outputs(&self, node: NodeId) -> Vec<Option<ValueId>> {
        self.model.nodes[node].outputs.clone()
    }

    fn schema(&self, node: NodeId) -> Option<&'static Schema> {
        let node = &self.model.nodes[node];
        schema::lookup(node.domain(), &node.op_type, self.opset_of(node.domain())?)
    }

    fn attr_names(&self, node: NodeId) -> Vec<&str> {
        self.model.nodes[node].attrs.iter().map(|attr| &*attr.name).collect()
    }

    fn attr(&self, node: NodeId, name: &str) -> Option<Datum> {
        let node = &self.model.nodes[node];
        if node.domain() == aten::DOMAIN {
            return torch_attr(self.model, node, name);
        }
        let value = node.attr(name)?;
        Some(Datum::from_attr(value, |id| &self.model.tensors[id]))
    }

    fn fact(&self, value: ValueId) -> &Fact {
        &self.facts[value]
    }

    fn constant(&self, value: ValueId) -> Option<Datum> {
        Datum::from_array(self.facts[value].as_const()?)
    }

    fn weight(&self, value: ValueId) -> Option<&Tensor> {
        match self.facts[value].as_tensor()?.value {
            ConstValue::Weight(id) => Some(&self.model.tensors[id]),
            _ => None,
        }
    }

    fn uses(&self, value: ValueId) -> usize {
        self.uses.count(value)
    }

    fn is_output(&self, value: ValueId) -> bool {
        self.uses.is_output(value)
    }

    fn is_input(&self, value: ValueId) -> bool {
        let value = &self.model.values[value];
        matches!(value.def, Def::Input(_)) && value.initial.is_none()
    }

    fn maker(&self, value: ValueId) -> Option<&Node> {
        self.model.producer(value).map(|(node, _)| &self.model.nodes[node])
    }

    fn opset(&self, domain: &str) -> Option<i64> {
        self.model.opset(self.graph, domain)
    }

    fn bounds(&self) -> &Bounds {
        &self.facts.bounds
    }

    fn sized(&self, node: NodeId) -> Vec<ValueId> {
        if !self.lowers {
            return Vec::new();
        }
        let own = self.model.nodes[node].inputs.iter().flatten().copied();
        own.chain(self.model.graphs[self.graph].inputs.iter().map(|port| port.value)).collect()
    }

    fn name(&self, value: ValueId) -> String {
        self.model.values[value].name.to_string()
    }
}

/// Returns an attribute of a PyTorch operator, or its default.
/// Floats are stored as tensors for full precision.
fn torch_attr(model: &Model, node: &Node, name: &str) -> Option<Datum> {
    let Some(value) = node.attr(name) else {
        let params = &aten::signature(&node.op_type)?.params;
        return Datum::from_literal(params.iter().find(|param| param.name == name)?.default.as_ref()?);
    };
    match Datum::from_attr(value, |id| &model.tensors[id]) {
        Datum::Tensor(tensor) => {
            let items = Datum::from_array(&infer::array(&tensor)?)?;
            match items {
                Datum::List(mut items) if tensor.dims.is_empty() => items.pop(),
                items => Some(items),
            }
        }
        datum => Some(datum),
    }
}
