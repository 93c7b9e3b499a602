//! What the changes of a graph saved, by the prices that its forms were chosen by.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::{Cost, inputs};
use super::plan::Chosen;
use crate::edit::{Change, Site};
use crate::egraph::{Call, ENode, canonical};
use crate::graph::NodeId;

fn units(cost: Option<Cost>) -> u64 {
    cost.unwrap_or_default().units()
}

/// What nodes cost that came and went, by the nodes of the graph that they are about.
#[derive(Default)]
pub(super) struct Ledger {
    /// Of new nodes, with the constants that came with them, by the last node that they stand for.
    paid: FxHashMap<NodeId, u64>,
    /// Of nodes that went, with the constants that only they needed.
    freed: FxHashMap<NodeId, u64>,
    /// Constants that were counted, so that each counts once.
    counted: FxHashSet<Id>,
    is_priced: bool,
}

impl Ledger {
    /// Notes the new node that makes a class.
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

    /// Notes the nodes that went.
    pub(super) fn note_gone(&mut self, chosen: &Chosen, gone: &FxHashSet<NodeId>) {
        let Some(pricing) = chosen.pricing else { return };
        self.is_priced = true;
        for (node, form) in chosen.calls.iter().filter(|(node, _)| gone.contains(node)) {
            let form = canonical(chosen.egraph, form);
            let Some(class) = chosen.egraph.lookup(form.clone()) else { continue };
            let mut cost = pricing.own(chosen.egraph, class, &form, true).units();
            for &input in inputs(&form) {
                let input = chosen.egraph.find(input);
                let leaf = chosen.egraph[input].nodes.iter().find(|node| matches!(node, ENode::Leaf(_)));
                let is_held = chosen.choice.cost(chosen.egraph, input).is_some()
                    && chosen.choice.form(chosen.egraph, input) == leaf;
                let is_gone = leaf.is_some() && !is_held;
                if is_gone && self.counted.insert(input) {
                    let leaf = leaf.map(|leaf| pricing.own(chosen.egraph, input, leaf, true).units());
                    cost = cost.saturating_add(leaf.unwrap_or_default());
                }
            }
            self.freed.insert(*node, cost);
        }
    }

    /// What a change saved; what it is about is not counted again.
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
