//! Applies a rewrite: adds the replacement, and merges it with the matched class.

use std::sync::Arc;

use egg::Id;

use super::EGraph;
use super::enode::{Call, ENode};
use super::host::NodeRef;
use super::tables::OpKey;
use crate::graph::{NodeId, TensorId};
use crate::infer::eval::Array;
use crate::rules::plan::{Item, Made, Plan, PlannedNode};

/// Maximum number of origin nodes of a new class; the nodes with the highest ids are kept.
/// Without a limit, repeated pairwise fusion of a long chain would accumulate all of its nodes.
const MOST_ORIGINS: usize = 64;

/// Plan of a rewrite in an e-graph.
pub type ClassPlan = Plan<Id, NodeRef>;

/// Reason why a rewrite was not applied.
#[derive(Debug, PartialEq, Eq)]
pub enum Unapplied {
    /// The facts of the matched value and of its replacement contradict each other.
    /// The rule is unsound, or the model declares something false.
    Contradiction(String),
    /// The rewrite creates a constant that an e-graph cannot represent.
    Malformed(String),
}

/// Result of applying a rewrite.
#[derive(Debug, Default)]
pub struct Applied {
    /// Whether the e-graph changed.
    pub changed: bool,
    /// Calls of the rewrite, including those that the e-graph already had.
    pub added: Vec<ENode>,
    /// Nodes of the graph that the matched calls derive from.
    ///
    /// Empty unless the rewrite merged classes and has no calls.
    pub equated: Vec<NodeId>,
    /// Matched outputs that were merged with a value of the graph or, if the rewrite has no calls, with
    /// any value or constant.
    pub joined: Vec<Id>,
}

/// Adds the new nodes and merges the outputs.
///
/// # Errors
/// The rewrite was not applied. Nodes that the rewrite added remain in the e-graph, which is harmless.
pub fn apply(egraph: &mut EGraph, plan: &ClassPlan) -> Result<Applied, Unapplied> {
    let mut making = Making { origin: origin(egraph, plan), tensors: Vec::new(), calls: Vec::new() };
    for tensor in &plan.tensors {
        making.tensors.push(egraph.analysis.tables.add_tensor(tensor.clone()));
    }
    let mut values: Vec<Id> = Vec::with_capacity(plan.values.len());
    let mut applied = Applied::default();
    for made in &plan.values {
        let id = match made {
            Made::Constant(array) => constant(egraph, array)?,
            Made::Output { node, index } => {
                while making.calls.len() <= *node {
                    let next = making.calls.len();
                    let call = making.call(egraph, &plan.nodes[next], &values, &mut applied);
                    making.calls.push(call);
                }
                making.output(egraph, making.calls[*node], *index)
            }
        };
        values.push(id);
    }
    let mut unions = Vec::new();
    for &(old, new) in &plan.outputs {
        let (old, new) = (egraph.find(old), egraph.find(id_of(new, &values)));
        if new != old {
            let met = egraph[old].data.fact().meet(egraph[new].data.fact(), &egraph.analysis.bounds);
            met.map_err(|conflict| Unapplied::Contradiction(conflict.to_string()))?;
            unions.push((old, new));
        }
    }
    for (old, new) in unions {
        if plan.nodes.is_empty() || !egraph[egraph.find(new)].data.values.is_empty() {
            applied.joined.push(old);
        }
        applied.changed |= egraph.union(old, new);
    }
    if applied.changed && plan.nodes.is_empty() {
        applied.equated = making.origin;
    }
    Ok(applied)
}

fn id_of(item: Item<Id>, values: &[Id]) -> Id {
    match item {
        Item::Old(id) => id,
        Item::New(new) => values[new.0],
    }
}

/// Returns the nodes of the graph that the matched classes derive from.
/// If there are more than [`MOST_ORIGINS`], returns the nodes with the highest ids.
fn origin(egraph: &EGraph, plan: &ClassPlan) -> Vec<NodeId> {
    let matched = plan.found.nodes.iter();
    let mut origin: Vec<NodeId> =
        matched.flat_map(|node| egraph[egraph.find(node.class)].data.origin.iter().copied()).collect();
    origin.sort_unstable();
    origin.dedup();
    origin.drain(..origin.len().saturating_sub(MOST_ORIGINS));
    origin
}

/// Plan whose nodes are being added.
struct Making {
    origin: Vec<NodeId>,
    /// Ids in the e-graph of the tensors of the plan, in the order of the plan.
    tensors: Vec<TensorId>,
    /// Nodes added so far.
    calls: Vec<Added>,
}

/// Added node.
#[derive(Clone, Copy)]
struct Added {
    class: Id,
    /// Whether `class` is the class of the node's only output, rather than of a tuple of outputs.
    is_single: bool,
}

impl Making {
    fn call(
        &self,
        egraph: &mut EGraph,
        node: &PlannedNode<Id>,
        values: &[Id],
        applied: &mut Applied,
    ) -> Added {
        let children: Vec<Id> = node
            .inputs
            .iter()
            .map(|input| match input {
                Some(item) => id_of(*item, values),
                None => egraph.add(ENode::Absent),
            })
            .collect();
        let key = OpKey {
            domain: node.op.domain.clone(),
            name: node.op.name.clone(),
            overload: Arc::from(""),
            epoch: node.op.schema.map(|schema| schema.epoch),
        };
        let attrs = node.attrs_with(&self.tensors);
        let tables = &mut egraph.analysis.tables;
        let call = Call {
            op: tables.intern_op(key),
            attrs: tables.intern_attrs(attrs, node.op.schema),
            outputs: node.outputs.len() as u16,
            inputs: children.len() as u16,
            token: None,
            children: children.into(),
        };
        let is_single = tables.is_single(&call);
        let enode = ENode::Call(call);
        let class = add(egraph, enode.clone(), &self.origin);
        applied.added.push(enode);
        Added { class, is_single }
    }

    fn output(&self, egraph: &mut EGraph, call: Added, index: usize) -> Id {
        match call.is_single {
            true => call.class,
            false => add(egraph, ENode::Output { index: index as u16, call: [call.class] }, &self.origin),
        }
    }
}

/// Adds an e-node; a class without an origin gets the given one.
fn add(egraph: &mut EGraph, enode: ENode, origin: &[NodeId]) -> Id {
    let class = egraph.add(enode);
    let data = &mut egraph[class].data;
    if data.origin.is_empty() {
        data.origin = origin.to_vec();
    }
    class
}

fn constant(egraph: &mut EGraph, array: &Arc<Array>) -> Result<Id, Unapplied> {
    let interned = egraph.analysis.tables.intern_const(array);
    let id = interned.ok_or_else(|| {
        Unapplied::Malformed(format!("constants of type {} are not supported", array.elem()))
    })?;
    Ok(egraph.add(ENode::Const(id)))
}
