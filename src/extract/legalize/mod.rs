//! Adds variants of calls that avoid features missing at the target opset.
//!
//! The variants avoid unsupported element types, negative axes and negative indices, and convert `Split`.
//! Rules convert the operators other than `Split` that changed between opsets.

mod carrier;
mod negative;
mod split;

use egg::Id;

use super::legality::Target;
use crate::diag::rule_ids;
use crate::egraph::{Call, EGraph, ENode, Step, rebuild};
use crate::graph::{AttrValue, Attribute, ElemType, NodeId};
use crate::schema::Obstacle;

/// Adds variants of calls that are illegal at the target; returns true if any is new.
pub fn adapt(egraph: &mut EGraph, target: &Target, steps: &mut Vec<Step>) -> bool {
    let mut calls: Vec<(Id, Call)> = Vec::new();
    for class in egraph.classes() {
        calls.extend(class.nodes.iter().filter_map(|node| Some((class.id, node.as_call()?.clone()))));
    }
    calls.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut changed = false;
    for (class, call) in calls {
        let Some((schema, obstacles)) = target.obstacles(egraph, &call) else {
            let epoch = target.epoch_in_force(egraph, &call);
            let is_split = &*egraph.analysis.tables.op(call.op).name == "Split";
            if let Some(epoch) = epoch.filter(|_| is_split) {
                changed |= split::convert(&mut Candidate { egraph, class, call: &call, steps }, epoch);
            }
            continue;
        };
        let mut form = Candidate { egraph, class, call: &call, steps };
        changed |= match obstacles.first() {
            Some(Obstacle::Type { slot, .. }) => carrier::around(&mut form, target, schema, *slot),
            Some(Obstacle::AttributeValue { name, .. }) => negative::attribute(&mut form, name),
            Some(Obstacle::Negative { slot, .. }) => negative::input(&mut form, *slot),
            _ => false,
        };
    }
    rebuild(egraph);
    changed
}

/// Code under which adapted calls are reported.
const CODE: &str = rule_ids::ADAPTED_FORM.code;

/// Call to adapt.
struct Candidate<'a, 'm> {
    egraph: &'a mut EGraph<'m>,
    class: Id,
    call: &'a Call,
    steps: &'a mut Vec<Step>,
}

impl Candidate<'_, '_> {
    fn origin(&self) -> Vec<NodeId> {
        self.egraph[self.class].data.origin.clone()
    }

    /// Adds an e-node with the origin of the call.
    fn add(&mut self, enode: ENode) -> Id {
        let origin = self.origin();
        if matches!(enode, ENode::Call(_)) {
            self.steps.push(Step {
                code: CODE.into(),
                matched: vec![ENode::Call(self.call.clone())],
                added: vec![enode.clone()],
                equated: Vec::new(),
                joined: Vec::new(),
            });
        }
        let id = self.egraph.add(enode);
        let data = &mut self.egraph[id].data;
        if data.origin.is_empty() {
            data.origin = origin;
        }
        id
    }

    /// Adds a `Cast` of a value to `to`.
    fn cast(&mut self, value: Id, to: ElemType) -> Option<Id> {
        let number = i64::from(to.number());
        self.single("Cast", vec![Attribute::new("to", AttrValue::Int(number))], vec![value])
    }

    /// Adds a call of a single-output ai.onnx operator with the semantics of its newest version.
    fn single(&mut self, name: &str, attrs: Vec<Attribute>, children: Vec<Id>) -> Option<Id> {
        let call = self.egraph.analysis.tables.call_of(name, None, attrs, children, 1)?;
        Some(self.add(ENode::Call(call)))
    }

    /// Adds a variant of the call with the given attributes and children.
    fn variant(&mut self, attrs: Vec<Attribute>, children: Vec<Id>) -> Id {
        let tables = &mut self.egraph.analysis.tables;
        let schema = tables.op(self.call.op).schema(i64::from(u16::MAX));
        let call = Call {
            attrs: tables.intern_attrs(attrs, schema),
            children: children.into(),
            ..self.call.clone()
        };
        self.add(ENode::Call(call))
    }

    /// Merges `variant` with the call, unless their facts contradict; returns true if anything changed.
    fn unite(&mut self, variant: Id) -> bool {
        let met = self.egraph[self.class]
            .data
            .fact()
            .meet(self.egraph[variant].data.fact(), &self.egraph.analysis.bounds);
        met.is_ok() && self.egraph.union(self.class, variant)
    }
}
