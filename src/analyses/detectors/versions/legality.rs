//! Legality of every node at its opset, by the schema table.

use super::Detector;
use super::obstacle::{self, Bound};
use crate::analyses::LintContext;
use crate::analyses::repairs::written_for;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::dim::Dim;
use crate::graph::{Node, NodeId, ValueId};
use crate::infer::Fact;
use crate::schema::{self, AttrUse, Illegal, Obstacle, OpUse, Operand, Schema};

/// Detector of nodes that are illegal at their opset or at the requested one.
pub const DETECTOR: Detector = Detector { rules: &obstacle::RULES, run };

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        sink.extend(obstacle::duplicate_attributes(cx, id));
        let known = schema::domain(node.domain()).is_some() && cx.model.callee(id).is_none();
        let opset = cx.model.opset(node.graph, node.domain()).and_then(|opset| u16::try_from(opset).ok());
        if let (true, Some(opset)) = (known, opset) {
            sink.extend(check(cx, id, node, opset));
        }
    }
}

/// Reports why a node is illegal at its own opset, or else the first reason at the requested opset.
fn check(cx: &LintContext, id: NodeId, node: &Node, opset: u16) -> Vec<Finding> {
    let attrs: Vec<AttrUse> = node.attrs.iter().map(AttrUse::from).collect();
    let operands = |values: &[Option<ValueId>]| -> Vec<Operand> {
        values.iter().map(|value| value.map_or(Operand::Absent, |value| operand(&cx.facts[value]))).collect()
    };
    let (inputs, outputs) = (operands(&node.inputs), operands(&node.outputs));
    let op = OpUse {
        domain: node.domain(),
        name: &node.op_type,
        epoch: None,
        attrs: &attrs,
        inputs: &inputs,
        outputs: &outputs,
    };
    let here = Bound { opset, as_stated: true };
    let found = all_obstacles(&op, opset);
    if let Some(written) = written_for(cx, id, false).filter(|_| !found.is_empty()) {
        return obstacle::of_other_opset(cx, id, &found[0], here, written).into_iter().collect();
    }
    if !found.is_empty() {
        return found.iter().filter_map(|illegal| obstacle::finding(cx, id, illegal, here)).collect();
    }
    let mut superfluous = default_attributes(cx, id, &op, here);
    let target = cx.options.opset.and_then(|target| u16::try_from(target).ok());
    let Some(target) = target.filter(|&target| target != opset && node.domain().is_empty()) else {
        return superfluous;
    };
    let epoch = schema::lookup(op.domain, op.name, opset).map(|schema| schema.epoch);
    let there = Bound { opset: target, as_stated: false };
    let illegal = schema::legal(&OpUse { epoch, ..op }, target).err();
    superfluous.extend(illegal.iter().filter_map(|illegal| obstacle::finding(cx, id, illegal, there)));
    superfluous
}

/// Reports attributes that only other versions of the operator define, and that have default values.
///
/// An attribute with its default value does not change the meaning of the node, so conversions ignore it, but
/// runtimes reject the model.
fn default_attributes(cx: &LintContext, id: NodeId, op: &OpUse, here: Bound) -> Vec<Finding> {
    let Some(schema) = schema::lookup(op.domain, op.name, here.opset) else { return Vec::new() };
    let illegal = |attr: &AttrUse| {
        let later = schema::versions(op.domain, op.name).iter().filter(|later| later.since > here.opset);
        let since = later.filter(|later| later.attr(attr.name).is_some()).map(|later| later.since).min();
        Illegal { obstacle: Obstacle::Attribute { name: attr.name.to_owned() }, since }
    };
    let lacking = op.attrs.iter().filter(|attr| schema.attr(attr.name).is_none());
    let findings = lacking.filter_map(|attr| obstacle::finding(cx, id, &illegal(attr), here));
    findings
        .map(|finding| finding.fix(Applicability::Safe, "removes the attribute, which has its default value"))
        .collect()
}

/// Returns the [`Obstacle`] that `schema::legal` finds, and all further obstacles at `opset`.
///
/// Several operands with one unsupported type count as one [`Obstacle`].
fn all_obstacles(op: &OpUse, opset: u16) -> Vec<Illegal> {
    let Err(first) = schema::legal(op, opset) else { return Vec::new() };
    let in_force: Option<&'static Schema> = schema::lookup(op.domain, op.name, opset);
    let others = in_force.filter(|schema| !schema.deprecated).map(|schema| schema::obstacles(op, schema));
    let mut found = vec![first];
    for obstacle in others.unwrap_or_default() {
        if !found.iter().any(|known| is_same(&known.obstacle, &obstacle)) {
            found.push(Illegal { obstacle, since: None });
        }
    }
    found
}

fn is_same(a: &Obstacle, b: &Obstacle) -> bool {
    match (a, b) {
        (Obstacle::Type { ty: a, .. }, Obstacle::Type { ty: b, .. }) => a == b,
        _ => a == b,
    }
}

fn operand(fact: &Fact) -> Operand {
    let is_negative = |dim: &Dim| dim.as_const().is_some_and(|number| number < 0);
    let negative = fact.as_ints().is_some_and(|ints| ints.iter().flatten().any(is_negative));
    Operand::Present { ty: fact.value_type(), negative }
}
