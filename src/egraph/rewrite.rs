//! Applies a rewrite: adds the new form, and says that it is equal to the matched one.

use std::sync::Arc;

use egg::Id;

use super::EGraph;
use super::enode::{Call, ConstId, ENode};
use super::host::NodeRef;
use super::tables::OpKey;
use crate::graph::{AttrKind, AttrValue, Attribute, NodeId, Tensor};
use crate::infer;
use crate::rules::datum::Datum;
use crate::rules::matcher::Binding;
use crate::rules::plan::{Plan, PlannedNode, schema_of};
use crate::rules::rule::{InPat, NewNode, VarId};
use crate::schema::Schema;

/// A rewrite of a match in an e-graph.
pub type ClassPlan<'r> = Plan<'r, Id, NodeRef>;

/// Why a rewrite was not applied.
#[derive(Debug, PartialEq, Eq)]
pub enum Unapplied {
    /// The new form's facts contradict the old one's: the rule is unsound, or the model says something
    /// of a value that is not so.
    Contradiction(String),
    /// The rewrite asks for what cannot be made: an operator that no opset has, an attribute of a kind
    /// that its schema does not take.
    Malformed(String),
}

/// What applying a rewrite did.
#[derive(Debug, Default)]
pub struct Applied {
    /// Whether the e-graph learned something.
    pub changed: bool,
    /// The calls that were added.
    pub added: Vec<ENode>,
}

/// Adds the new nodes and unites the outputs.
///
/// # Errors
/// The rewrite was not applied; nodes it added stay, which does no harm.
pub fn apply(egraph: &mut EGraph, plan: &ClassPlan) -> Result<Applied, Unapplied> {
    let origin = origin(egraph, plan);
    let mut applied = Applied::default();
    let values = plan.rewrite.fresh.len() + plan.rewrite.outputs.len();
    let mut made: Vec<(VarId, Id)> = Vec::with_capacity(values);
    for planned in &plan.nodes {
        add_node(egraph, plan, planned, &origin, &mut made, &mut applied)?;
    }
    for alias in &plan.rewrite.aliases {
        if let Some(source) = find(&made, alias.source).or_else(|| plan.found.one(alias.source)) {
            made.push((alias.target, source));
        }
    }
    let mut unions = Vec::new();
    for &output in &plan.rewrite.outputs {
        let (Some(new), Some(old)) = (find(&made, output), plan.found.one(output)) else { continue };
        let (new, old) = (egraph.find(new), egraph.find(old));
        if new != old {
            let met = egraph[old].data.fact().meet(egraph[new].data.fact(), &egraph.analysis.bounds);
            met.map_err(|conflict| Unapplied::Contradiction(conflict.to_string()))?;
            unions.push((old, new));
        }
    }
    for (old, new) in unions {
        applied.changed |= egraph.union(old, new);
    }
    Ok(applied)
}

/// The nodes of the graph that a match stands for.
fn origin(egraph: &EGraph, plan: &ClassPlan) -> Vec<NodeId> {
    let matched = plan.found.nodes.iter();
    let mut origin: Vec<NodeId> =
        matched.flat_map(|node| egraph[egraph.find(node.class)].data.origin.iter().copied()).collect();
    origin.sort_unstable();
    origin.dedup();
    origin
}

fn find(made: &[(VarId, Id)], var: VarId) -> Option<Id> {
    made.iter().rev().find(|(name, _)| *name == var).map(|(_, id)| *id)
}

fn add_node(
    egraph: &mut EGraph,
    plan: &ClassPlan,
    planned: &PlannedNode,
    origin: &[NodeId],
    made: &mut Vec<(VarId, Id)>,
    applied: &mut Applied,
) -> Result<(), Unapplied> {
    let node = planned.node;
    if node.op.domain.is_empty() && &*node.op.name == "Constant" {
        let constant = constant(egraph, planned)?;
        let class = egraph.add(ENode::Const(constant));
        made.extend(node.outputs.iter().flatten().map(|&var| (var, class)));
        return Ok(());
    }
    let children = children(egraph, plan, node, made)?;
    let opset = egraph.analysis.opset_of(&node.op.domain);
    let schema = schema_of(node, opset)
        .ok_or_else(|| Unapplied::Malformed(format!("no opset has an operator `{}`", node.op.name)))?;
    let attrs = attributes(egraph, schema, &planned.attrs)?;
    let key = OpKey {
        domain: node.op.domain.clone(),
        name: node.op.name.clone(),
        overload: Arc::from(""),
        epoch: Some(schema.epoch),
    };
    let tables = &mut egraph.analysis.tables;
    let call = Call {
        op: tables.intern_op(key),
        attrs: tables.intern_attrs(attrs, Some(schema)),
        outputs: node.outputs.len() as u16,
        inputs: children.len() as u16,
        token: None,
        children: children.into(),
    };
    let single = tables.is_single(call.op, &call);
    let enode = ENode::Call(call);
    let class = add(egraph, enode.clone(), origin);
    applied.added.push(enode);
    for (index, var) in node.outputs.iter().enumerate() {
        let Some(var) = *var else { continue };
        let value = match single {
            true => class,
            false => add(egraph, ENode::Output { index: index as u16, call: [class] }, origin),
        };
        made.push((var, value));
    }
    Ok(())
}

/// Adds an e-node; a class that is new comes from the nodes that the rule matched.
fn add(egraph: &mut EGraph, enode: ENode, origin: &[NodeId]) -> Id {
    let class = egraph.add(enode);
    let data = &mut egraph[class].data;
    if data.origin.is_empty() {
        data.origin = origin.to_vec();
    }
    class
}

fn children(
    egraph: &mut EGraph,
    plan: &ClassPlan,
    node: &NewNode,
    made: &[(VarId, Id)],
) -> Result<Vec<Id>, Unapplied> {
    let mut children = Vec::new();
    for input in &node.inputs {
        let Some(var) = input.var() else {
            children.push(egraph.add(ENode::Absent));
            continue;
        };
        if let Some(id) = find(made, var) {
            children.push(id);
            continue;
        }
        match plan.found.value(var) {
            Some(Binding::One(id)) => children.push(*id),
            Some(Binding::Many(ids)) => children.extend(ids),
            Some(Binding::Absent) if matches!(input, InPat::Value(_) | InPat::Optional(_)) => {
                children.push(egraph.add(ENode::Absent));
            }
            Some(Binding::Absent) => {}
            None => {
                return Err(Unapplied::Malformed(format!(
                    "`{}` uses a value that is not made",
                    node.op.name
                )));
            }
        }
    }
    while let Some(&last) = children.last() {
        if egraph[last].nodes.first() != Some(&ENode::Absent) {
            break;
        }
        children.pop();
    }
    Ok(children)
}

fn attributes(
    egraph: &mut EGraph,
    schema: &'static Schema,
    data: &[(Arc<str>, Datum)],
) -> Result<Vec<Attribute>, Unapplied> {
    let mut attrs = Vec::with_capacity(data.len());
    for (name, datum) in data {
        let spec = schema.attrs.iter().find(|spec| spec.name == &**name);
        let value = spec.and_then(|spec| value_of(egraph, spec.kind, datum));
        let value = value.ok_or_else(|| {
            Unapplied::Malformed(format!("`{}` of `{}` cannot be {datum:?}", name, schema.name))
        })?;
        attrs.push(Attribute::new(name, value));
    }
    Ok(attrs)
}

fn value_of(egraph: &mut EGraph, kind: AttrKind, datum: &Datum) -> Option<AttrValue> {
    match (kind, datum) {
        (AttrKind::Tensor, Datum::Tensor(tensor)) => {
            let id = egraph.analysis.tables.add_tensor(Tensor::clone(tensor));
            Some(AttrValue::Tensor(id))
        }
        _ => datum.to_attr(kind),
    }
}

/// The constant of a `Constant` node of a rewrite, whichever of its attributes says it.
fn constant(egraph: &mut EGraph, planned: &PlannedNode) -> Result<ConstId, Unapplied> {
    let malformed = || Unapplied::Malformed("a `Constant` that is no constant".to_owned());
    let (name, datum) = planned.attrs.first().ok_or_else(malformed)?;
    let tensor = datum.to_constant(name).ok_or_else(malformed)?;
    let array = infer::array(&tensor).ok_or_else(malformed)?;
    egraph.analysis.tables.intern_const(&Arc::new(array)).ok_or_else(malformed)
}
