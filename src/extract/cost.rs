//! What a form costs: integers, so that sums do not depend on their order.

use egg::Id;

use crate::egraph::{Call, EGraph, ENode};
use crate::graph::Def;
use crate::schema::operator;
use crate::schema::operator::Work;

/// A cost, or a sum of costs. [`Cost::MAX`] is that of what cannot be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

impl Cost {
    pub const MAX: Cost = Cost(u64::MAX);

    pub fn new(units: u64) -> Self {
        Cost(units)
    }

    /// The sum, which cannot be had where one of both cannot. What is used again and again makes sums of
    /// tree costs grow without end: those stop at the greatest cost that can be had, which keeps them in
    /// order, if no longer strictly.
    pub fn plus(self, other: Cost) -> Cost {
        if !self.is_finite() || !other.is_finite() {
            return Cost::MAX;
        }
        Cost(self.0.saturating_add(other.0).min(u64::MAX - 1))
    }

    pub fn is_finite(self) -> bool {
        self != Cost::MAX
    }
}

/// One node, whatever it does, is worth this much.
const NODE: u64 = 100;
/// A node that moves or recomputes the whole tensor without arithmetic to speak of.
const MOVE: u64 = 20;
/// A node that only gives its input another shape or name.
const VIEW: u64 = 5;
/// Elementwise arithmetic.
const ELEMENTWISE: u64 = 30;
/// Products of matrices, convolutions, attention, recurrence: what the time goes to.
const HEAVY: u64 = 1000;
/// A constant that has to be written into the file, and each 64 bytes of it.
const CONSTANT: u64 = 4;
/// What a form must save before it is taken in place of the one that the graph came with.
const CHANGE: u64 = 1;

/// The cost of a form without that of its inputs.
///
/// `is_original` says that the graph came with it; of two forms that cost the same it is taken.
pub fn own(egraph: &EGraph, enode: &ENode, is_original: bool) -> Cost {
    let change = if is_original { 0 } else { CHANGE };
    Cost(match enode {
        ENode::Absent => 0,
        ENode::Leaf(value) => {
            let model = egraph.analysis.tables.model;
            match model.values[*value].def {
                // A `Constant` node is in the file anyway, but an equal initializer saves it.
                Def::Node { .. } if model.values[*value].graph == egraph.analysis.graph => 1,
                _ => 0,
            }
        }
        ENode::Const(id) => {
            let array = egraph.analysis.tables.constant(*id);
            let bytes = array.len() * array.elem().bits().unwrap_or(64) / 8;
            CONSTANT + bytes as u64 / 64
        }
        ENode::Output { .. } => 0,
        ENode::Call(call) => NODE + work(egraph, call) + change,
    })
}

/// What the operator itself costs, roughly in order of run time.
fn work(egraph: &EGraph, call: &Call) -> u64 {
    let key = egraph.analysis.tables.op(call.op);
    match operator(&key.domain, &key.name).map(|operator| operator.work) {
        Some(Work::View) => VIEW,
        Some(Work::Move) => MOVE,
        Some(Work::Elementwise | Work::Reduction) | None => ELEMENTWISE,
        Some(Work::Product | Work::Control) => HEAVY,
    }
}

/// The classes that a form is made from.
pub fn inputs(enode: &ENode) -> &[Id] {
    egg::Language::children(enode)
}
