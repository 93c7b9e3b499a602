//! What a form costs: integers, so that sums do not depend on their order.

use egg::Id;

use crate::egraph::{Call, EGraph, ENode};
use crate::graph::{Def, ElemType};
use crate::infer::{Fact, MAX_ELEMENTS, Shape};
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
const CONSTANT_BYTES: u64 = 64;
/// Of larger constants, each 8 bytes: a weight is not written twice to save a node.
const WEIGHT_BYTES: u64 = 8;
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
            let class = egraph.lookup(enode.clone()).map(|class| &egraph[class]);
            let weight = class.map(|class| class.data.fact()).filter(|fact| fact.is_const());
            match model.values[*value].def {
                _ if model.values[*value].graph != egraph.analysis.graph => 0,
                // A `Constant` node is in the file anyway, but an equal initializer saves it.
                Def::Node { .. } => 1 + weight.map_or(0, stored),
                _ => weight.map_or(0, stored),
            }
        }
        ENode::Const(id) => {
            let array = egraph.analysis.tables.constant(*id);
            CONSTANT + stored_bytes(array.len() * array.elem().bits().unwrap_or(64) / 8)
        }
        ENode::Output { .. } => 0,
        ENode::Call(call) => NODE + work(egraph, call) + change,
    })
}

/// What it costs that a constant is in the file.
fn stored(fact: &Fact) -> u64 {
    let elements = fact.shape().and_then(Shape::to_static).map(|dims| dims.iter().product::<usize>());
    let bits = fact.elem().and_then(ElemType::bits).unwrap_or(64);
    stored_bytes(elements.unwrap_or(0).saturating_mul(bits) / 8)
}

fn stored_bytes(bytes: usize) -> u64 {
    const LARGE: usize = MAX_ELEMENTS * 8;
    bytes as u64 / if bytes > LARGE { WEIGHT_BYTES } else { CONSTANT_BYTES }
}

/// The cost of a constant that is computed beforehand.
pub fn computed(fact: &Fact) -> Cost {
    Cost(CONSTANT + CHANGE + stored(fact))
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
