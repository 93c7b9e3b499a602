//! Host for matching rules in an e-graph: values are e-classes, nodes are calls.

use std::cell::Cell;

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::enode::{Call, ENode};
use super::surroundings::is_large;
use crate::graph::dim::Bounds;
use crate::graph::{Node, Tensor};
use crate::infer::{ConstValue, Fact};
use crate::rules::datum::Datum;
use crate::rules::host::Host;
use crate::rules::rule::OpPat;
use crate::schema::Schema;

/// Reference to a call: its e-class, and its index in the e-class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeRef {
    pub class: Id,
    pub index: u32,
}

/// E-graph after rebuilding, with its calls indexed by operator.
pub struct ClassHost<'a, 'm> {
    egraph: &'a EGraph<'m>,
    by_op: FxHashMap<(&'a str, &'a str), Vec<NodeRef>>,
    /// Facts that replace those of the e-graph, by class.
    claims: FxHashMap<Id, Fact>,
    /// Opset of ai.onnx for queries about the converted model; `None` for the opset of the graph.
    opset: Option<i64>,
    /// Whether a rule read what [`Surroundings`](super::surroundings::Surroundings) leave out.
    has_looked_further: Cell<bool>,
}

impl<'a, 'm> ClassHost<'a, 'm> {
    /// Creates a host. The e-graph must have been rebuilt since its last change.
    pub fn new(egraph: &'a EGraph<'m>) -> Self {
        let mut classes: Vec<&egg::EClass<ENode, _>> = egraph.classes().collect();
        classes.sort_unstable_by_key(|class| class.id);
        let mut by_op: FxHashMap<(&str, &str), Vec<NodeRef>> = FxHashMap::default();
        for class in classes {
            for (index, enode) in class.nodes.iter().enumerate() {
                if let ENode::Call(call) = enode {
                    let key = egraph.analysis.tables.op(call.op);
                    let node = NodeRef { class: class.id, index: index as u32 };
                    by_op.entry((&key.domain, &key.name)).or_default().push(node);
                }
            }
        }
        ClassHost { by_op, ..ClassHost::of_nodes(egraph, None) }
    }

    /// Returns a host for this e-graph that assumes the declared types of the graph outputs.
    pub fn trusting_outputs(&self) -> Self {
        let claim = |(class, claimed): &(Id, Fact)| {
            let class = self.egraph.find(*class);
            let both = self.egraph[class].data.fact().meet(claimed, &self.egraph.analysis.bounds).ok()?;
            Some((class, both))
        };
        let claims = self.egraph.analysis.claims.iter().filter_map(claim).collect();
        ClassHost { by_op: self.by_op.clone(), claims, ..ClassHost::of_nodes(self.egraph, self.opset) }
    }

    /// Creates a host without an index of calls, for queries about given nodes at an opset of ai.onnx.
    pub fn of_nodes(egraph: &'a EGraph<'m>, opset: Option<i64>) -> Self {
        let (by_op, claims, has_looked_further) = Default::default();
        ClassHost { egraph, by_op, claims, opset, has_looked_further }
    }

    /// Returns the answer to `question`, and whether a rule looked further than surroundings reach.
    pub(super) fn watched<T>(&self, question: impl FnOnce() -> T) -> (T, bool) {
        self.has_looked_further.set(false);
        let answer = question();
        (answer, self.has_looked_further.get())
    }

    /// Returns the e-node at a position.
    pub(super) fn enode(&self, node: NodeRef) -> Option<&'a ENode> {
        self.egraph[node.class].nodes.get(node.index as usize)
    }

    fn call(&self, node: NodeRef) -> Option<&'a Call> {
        self.enode(node)?.as_call()
    }

    fn calls(&self, class: Id) -> impl Iterator<Item = (NodeRef, &'a Call)> {
        let class = &self.egraph[class];
        let nodes = class.nodes.iter().enumerate();
        let at = class.id;
        nodes.filter_map(move |(index, enode)| {
            Some((NodeRef { class: at, index: index as u32 }, enode.as_call()?))
        })
    }

    fn is_single(&self, call: &Call) -> bool {
        self.egraph.analysis.tables.is_single(call)
    }
}

impl Host for ClassHost<'_, '_> {
    type Value = Id;
    type Node = NodeRef;

    fn nodes_of(&self, op: &OpPat) -> Vec<NodeRef> {
        self.by_op.get(&(&*op.domain, &*op.name)).cloned().unwrap_or_default()
    }

    fn is(&self, node: NodeRef, op: &OpPat) -> bool {
        let Some(call) = self.call(node) else { return false };
        let key = self.egraph.analysis.tables.op(call.op);
        let epoch = || op.epoch.or(self.egraph.analysis.tables.meaning(call.op).named_plainly);
        key.name == op.name && key.domain == op.domain && key.overload.is_empty() && key.epoch == epoch()
    }

    fn producers(&self, value: Id) -> Vec<(NodeRef, usize)> {
        let mut found: Vec<_> =
            self.calls(value).filter(|(_, call)| self.is_single(call)).map(|(node, _)| (node, 0)).collect();
        for enode in &self.egraph[value].nodes {
            if let ENode::Output { index, call: [class] } = enode {
                found.extend(self.calls(*class).map(|(node, _)| (node, usize::from(*index))));
            }
        }
        found
    }

    fn inputs(&self, node: NodeRef) -> Vec<Option<Id>> {
        let Some(call) = self.call(node) else { return Vec::new() };
        let present = |&child: &Id| {
            let child = self.egraph.find(child);
            (self.egraph[child].nodes.first() != Some(&ENode::Absent)).then_some(child)
        };
        call.children[..usize::from(call.inputs)].iter().map(present).collect()
    }

    fn outputs(&self, node: NodeRef) -> Vec<Option<Id>> {
        let Some(call) = self.call(node) else { return Vec::new() };
        if self.is_single(call) {
            return vec![Some(self.egraph.find(node.class))];
        }
        let output = |index| self.egraph.lookup(ENode::Output { index, call: [node.class] });
        (0..call.outputs).map(output).collect()
    }

    fn schema(&self, node: NodeRef) -> Option<&'static Schema> {
        self.egraph.analysis.tables.meaning(self.call(node)?.op).schema
    }

    fn attr_names(&self, node: NodeRef) -> Vec<&str> {
        let Some(call) = self.call(node) else { return Vec::new() };
        self.egraph.analysis.tables.attrs(call.attrs).iter().map(|attr| &*attr.name).collect()
    }

    fn attr(&self, node: NodeRef, name: &str) -> Option<Datum> {
        let tables = &self.egraph.analysis.tables;
        let value = tables.attr(self.call(node)?.attrs, name)?;
        Some(Datum::from_attr(value, |id| tables.tensor(id)))
    }

    fn fact(&self, value: Id) -> &Fact {
        let fact =
            self.claims.get(&self.egraph.find(value)).unwrap_or_else(|| self.egraph[value].data.fact());
        if is_large(fact) {
            self.look_further();
        }
        fact
    }

    fn constant(&self, value: Id) -> Option<Datum> {
        Datum::from_array(self.fact(value).as_const()?)
    }

    fn weight(&self, value: Id) -> Option<&Tensor> {
        self.look_further();
        match self.fact(value).as_tensor()?.value {
            ConstValue::Weight(id) => Some(self.egraph.analysis.tables.tensor(id)),
            _ => None,
        }
    }

    fn uses(&self, value: Id) -> usize {
        self.egraph[value].data.uses.max(1)
    }

    fn is_output(&self, value: Id) -> bool {
        self.egraph[value].data.is_output
    }

    fn is_input(&self, value: Id) -> bool {
        let model = self.egraph.analysis.tables.model;
        let inputs = &model.graphs[self.egraph.analysis.graph].inputs;
        let values = &self.egraph[value].data.values;
        values.iter().any(|&value| {
            model.values[value].initial.is_none() && inputs.iter().any(|port| port.value == value)
        })
    }

    fn maker(&self, _: Id) -> Option<&Node> {
        None
    }

    fn opset(&self, domain: &str) -> Option<i64> {
        let of_result = self.opset.filter(|_| domain.is_empty());
        of_result.or_else(|| self.egraph.analysis.opset_of(domain))
    }

    fn bounds(&self) -> &Bounds {
        &self.egraph.analysis.bounds
    }

    fn look_further(&self) {
        self.has_looked_further.set(true);
    }

    fn name(&self, value: Id) -> String {
        let values = &self.egraph[value].data.values;
        values
            .first()
            .map_or_else(|| "_".to_owned(), |&v| self.egraph.analysis.tables.model.values[v].name.to_string())
    }
}
