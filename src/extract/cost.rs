//! Cost model. Costs are integers, so that sums do not depend on their order.

mod bytes;
mod prices;
mod work;

use egg::Id;

pub use self::prices::Objective;
use self::prices::{Prices, per_1024};
pub use self::work::DimHints;
use crate::egraph::{Call, EGraph, ENode};
use crate::graph::{Def, ElemType, NodeId};
use crate::infer::{Fact, MAX_ELEMENTS, Shape};
use crate::schema::operator;
use crate::schema::operator::Work;

/// Cost, or sum of costs. [`Cost::MAX`] means impossible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

impl Cost {
    /// Cost of a class that cannot be extracted.
    pub const MAX: Cost = Cost(u64::MAX);

    /// Creates a cost.
    pub fn new(units: u64) -> Self {
        Cost(units)
    }

    /// Adds two costs; the sum is [`Cost::MAX`] if either is.
    /// Tree costs of heavily shared work grow exponentially. A sum of two
    /// finite costs saturates just below [`Cost::MAX`]: large sums may become equal, but are never reordered.
    pub fn plus(self, other: Cost) -> Cost {
        if !self.is_finite() || !other.is_finite() {
            return Cost::MAX;
        }
        Cost(self.0.saturating_add(other.0).min(u64::MAX - 1))
    }

    /// Returns true if the cost is not [`Cost::MAX`].
    pub fn is_finite(self) -> bool {
        self != Cost::MAX
    }

    /// Returns the cost in units of the objective.
    pub fn units(self) -> u64 {
        self.0
    }
}

/// Surcharge for new calls and folded constants, so that original calls win ties.
const CHANGE: u64 = 1;

/// Cost model used for extraction.
#[derive(Clone, Debug, Default)]
pub struct CostModel {
    pub objective: Objective,
    pub guesses: DimHints,
}

impl CostModel {
    fn prices(&self) -> &'static Prices {
        self.objective.prices()
    }

    /// Returns the cost of an e-node without its inputs.
    ///
    /// `original` is the node that the e-node represents in the source graph; original e-nodes win ties.
    pub fn own(&self, egraph: &EGraph, class: Id, enode: &ENode, original: Option<NodeId>) -> Cost {
        let change = Cost(if original.is_some() { 0 } else { CHANGE });
        let data = &egraph[class].data;
        match enode {
            ENode::Absent | ENode::Output { .. } => Cost::default(),
            ENode::Leaf(value) => {
                let model = egraph.analysis.tables.model;
                let held = || match data.fact().is_const() {
                    true => self.stored(data.fact()).plus(self.text(|| bytes::of_constant(egraph, class))),
                    false => Cost::default(),
                };
                match model.values[*value].def {
                    _ if model.values[*value].graph != egraph.analysis.graph => Cost::default(),
                    // A `Constant` node is already in the file, but an equal initializer makes it redundant.
                    Def::Node { .. } => Cost(1).plus(held()),
                    _ => held(),
                }
            }
            ENode::Const(id) => {
                let array = egraph.analysis.tables.constant(*id);
                Cost(self.prices().constant)
                    .plus(self.stored_elements(array.len(), array.elem().bits()))
                    .plus(self.text(|| bytes::of_constant(egraph, class)))
            }
            ENode::Call(call) => self
                .work(egraph, call, &data.facts)
                .plus(self.text(|| bytes::of_call(egraph, class, call, original)))
                .plus(change),
        }
    }

    /// Returns the cost of the constant-folded value of a class.
    pub fn beforehand(&self, egraph: &EGraph, class: Id) -> Cost {
        Cost(self.prices().constant + CHANGE)
            .plus(self.stored(egraph[class].data.fact()))
            .plus(self.text(|| bytes::of_constant(egraph, class)))
    }

    /// Returns the cost of bytes other than elements; computes them only if they have a cost.
    fn text(&self, bytes: impl FnOnce() -> usize) -> Cost {
        match self.prices().text {
            0 => Cost::default(),
            price => Cost(per_1024(bytes() as u64, price)),
        }
    }

    /// Returns the cost of storing a constant in the file.
    fn stored(&self, fact: &Fact) -> Cost {
        let elements = fact.shape().and_then(Shape::to_static).map(|dims| dims.iter().product::<usize>());
        self.stored_elements(elements.unwrap_or(0), fact.elem().and_then(ElemType::bits))
    }

    fn stored_elements(&self, elements: usize, bits: Option<usize>) -> Cost {
        const LARGE: usize = MAX_ELEMENTS * 8;
        let bytes = elements.saturating_mul(bits.unwrap_or(64)) / 8;
        self.prices().stored(bytes, bytes > LARGE)
    }

    /// Returns the cost of a node whose outputs have these facts.
    fn work(&self, egraph: &EGraph, call: &Call, given: &[Fact]) -> Cost {
        let prices = self.prices();
        let key = egraph.analysis.tables.op(call.op);
        let work = operator(&key.domain, &key.name).map(|operator| operator.work);
        let by_kind = match work {
            Some(Work::View) => prices.view,
            Some(Work::Move) => prices.moving,
            Some(Work::Elementwise | Work::Reduction) | None => prices.elements,
            Some(Work::Product | Work::Control) => prices.product,
        };
        let fixed = Cost(prices.node + by_kind);
        if !prices.sees_sizes() || work == Some(Work::View) {
            return fixed;
        }
        let amount = self.guesses.amount(egraph, call, given);
        let by_size = match work {
            Some(Work::Move) => 0,
            Some(Work::Product) => per_1024(amount.products, prices.summed),
            _ => per_1024(amount.elements, prices.computed),
        };
        fixed.plus(Cost(per_1024(amount.bytes, prices.traffic))).plus(Cost(by_size))
    }
}

/// Returns the classes that an e-node uses.
pub fn inputs(enode: &ENode) -> &[Id] {
    egg::Language::children(enode)
}
