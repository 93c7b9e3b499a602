//! Cost savings of the changes in a graph, in the prices used for extraction.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::chosen::Chosen;
use super::cost::{Cost, inputs};
use crate::edit::{Change, Site};
use crate::egraph::{Call, ENode, canonical};
use crate::graph::NodeId;

fn units(cost: Option<Cost>) -> u64 {
    cost.unwrap_or_default().units()
}

/// Costs of added and removed nodes, by node of the source graph.
#[derive(Default)]
pub(super) struct CostDelta {
    /// Cost of new nodes and their new constants, by the last source node that each new node replaces.
    paid: FxHashMap<NodeId, u64>,
    /// Cost of removed nodes, and of constants that only they used.
    freed: FxHashMap<NodeId, u64>,
    /// Constants already counted, so that each counts once.
    counted: FxHashSet<Id>,
    is_priced: bool,
}

impl CostDelta {
    /// Records the cost of the new node of a class.
    pub(super) fn pay(&mut self, chosen: &Chosen, class: Id, call: &Call) {
        let Some(&last) = chosen.egraph[class].data.origin.last() else { return };
        let mut cost = units(chosen.choice.cost(chosen.egraph, class));
        for &child in &call.children {
            let child = chosen.egraph.find(child);
            let is_new = matches!(chosen.choice.form(chosen.egraph, child), Some(ENode::Const(_)));
            if is_new && self.counted.insert(child) {
                cost = cost.saturating_add(units(chosen.choice.cost(chosen.egraph, child)));
            }
        }
        let paid = self.paid.entry(last).or_default();
        *paid = paid.saturating_add(cost);
    }

    /// Records the costs of the removed nodes.
    pub(super) fn note_gone(&mut self, chosen: &Chosen, gone: &FxHashSet<NodeId>) {
        let Some(pricing) = chosen.pricing else { return };
        self.is_priced = true;
        for (node, form) in chosen.calls.iter().filter(|(node, _)| gone.contains(node)) {
            let form = canonical(chosen.egraph, form);
            let Some(class) = chosen.egraph.lookup(form.clone()) else { continue };
            let mut cost = pricing.own(chosen.egraph, class, &form, Some(*node)).units();
            for &input in inputs(&form) {
                let input = chosen.egraph.find(input);
                let leaf = chosen.egraph[input].nodes.iter().find(|node| matches!(node, ENode::Leaf(_)));
                let is_held = chosen.choice.cost(chosen.egraph, input).is_some()
                    && chosen.choice.form(chosen.egraph, input) == leaf;
                let is_gone = leaf.is_some() && !is_held;
                if is_gone && self.counted.insert(input) {
                    let leaf = leaf.map(|leaf| pricing.own(chosen.egraph, input, leaf, Some(*node)).units());
                    cost = cost.saturating_add(leaf.unwrap_or_default());
                }
            }
            self.freed.insert(*node, cost);
        }
    }

    /// Returns the saving of a change, and removes the costs of its nodes, so that each counts once.
    pub(super) fn saved(&mut self, change: &Change) -> Option<i64> {
        let Site::Node(at) = change.at else { return None };
        if !self.is_priced {
            return None;
        }
        let paid = self.paid.remove(&at).unwrap_or_default();
        let about = std::iter::once(&at).chain(&change.with);
        let freed =
            about.fold(0, |sum: u64, node| sum.saturating_add(self.freed.remove(node).unwrap_or_default()));
        let (paid, freed) = (i64::try_from(paid).ok()?, i64::try_from(freed).ok()?);
        Some(freed - paid)
    }
}
