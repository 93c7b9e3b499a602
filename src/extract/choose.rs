//! Extraction: selects one legal e-node for every needed class, at low total cost.
//!
//! The first step selects the cheapest e-node of every class bottom-up, as if nothing were shared. A
//! local search (`search`) then counts shared work once. The search includes moves that change several
//! classes at once (`moves`).

mod moves;
mod search;
mod users;
mod weights;

#[cfg(test)]
mod tests;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::{Cost, CostModel};
use super::legality::Target;
use crate::egraph::{EGraph, ENode};
use crate::graph::NodeId;
use search::LocalSearch;
use users::Users;

/// Selected e-node of each needed class.
#[derive(Debug, Default)]
pub struct Selection {
    forms: FxHashMap<Id, usize>,
    /// Minimum tree cost of each class; classes that cannot be extracted are missing.
    possible: FxHashMap<Id, Cost>,
    /// Cost of the selected e-node of each needed class, without the cost of its inputs.
    own: FxHashMap<Id, Cost>,
}

impl Selection {
    /// Returns the cost of the selected e-node of a class, without the cost of its inputs.
    /// Returns `None` if the class is not needed, or is used only by constant folding.
    pub fn cost(&self, egraph: &EGraph, class: Id) -> Option<Cost> {
        self.own.get(&egraph.find(class)).copied()
    }

    /// Returns the selected e-node of a class; `None` if the class is not needed.
    pub fn form<'a>(&self, egraph: &'a EGraph, class: Id) -> Option<&'a ENode> {
        let class = egraph.find(class);
        self.forms.get(&class).and_then(|&index| egraph[class].nodes.get(index))
    }

    /// Returns true if a class can be extracted.
    pub fn is_possible(&self, class: Id) -> bool {
        self.possible.contains_key(&class)
    }
}

/// Selects e-nodes for `roots` and everything they need.
///
/// `original` holds the calls of the source graph. Roots that cannot be extracted are skipped.
/// In a needed class, legal `preferred` e-nodes take precedence over all others, whatever they cost, unless
/// the value exists without computation.
/// Without `pricing`, original e-nodes cost nothing, so that the legal ones among them are kept.
pub fn choose(
    egraph: &EGraph,
    target: &Target,
    original: &FxHashMap<ENode, NodeId>,
    preferred: &FxHashSet<ENode>,
    roots: &[Id],
    pricing: Option<&CostModel>,
) -> Selection {
    let forms = Candidates::of(egraph, target, (original, preferred), pricing);
    let possible = forms.cheapest();
    let roots: Vec<usize> =
        roots.iter().filter_map(|&root| forms.index.get(&egraph.find(root)).copied()).collect();
    let mut search = LocalSearch::run(&forms, &possible, &roots);
    let mut choice = Selection::default();
    for (class, &id) in forms.ids.iter().enumerate().filter(|(class, _)| search.users[*class] > 0) {
        choice.own.insert(id, forms.of[class][search.chosen[class]].cost);
    }
    search.take_materials();
    for (class, &id) in forms.ids.iter().enumerate() {
        if search.users[class] > 0 {
            choice.forms.insert(id, forms.of[class][search.chosen[class]].at);
        }
        if possible.costs[class].is_finite() {
            choice.possible.insert(id, possible.costs[class]);
        }
    }
    choice
}

/// Legal candidate: its index in the class, its own cost, and the classes it needs.
#[derive(Default)]
struct Candidate {
    at: usize,
    cost: Cost,
    inputs: Vec<usize>,
    /// Operands of a constant-folded candidate; the resulting model does not need them.
    materials: Vec<usize>,
}

/// Legal candidates of every class; classes are numbered in the order of their ids.
struct Candidates {
    ids: Vec<Id>,
    index: FxHashMap<Id, usize>,
    of: Vec<Vec<Candidate>>,
    /// For each class, the classes with a candidate that uses it.
    takers: Users,
}

impl Candidates {
    fn of(
        egraph: &EGraph,
        target: &Target,
        (original, preferred): (&FxHashMap<ENode, NodeId>, &FxHashSet<ENode>),
        pricing: Option<&CostModel>,
    ) -> Self {
        let by_nodes = CostModel::default();
        let mut ids: Vec<Id> = egraph.classes().map(|class| class.id).collect();
        ids.sort_unstable();
        let index: FxHashMap<Id, usize> = ids.iter().enumerate().map(|(index, &id)| (id, index)).collect();
        let form = |id: Id, at: usize, enode: &ENode| {
            let node = original.get(enode).copied();
            let is_original = node.is_some();
            let legal = match enode {
                ENode::Call(call) if target.is_source && is_original => target.taken(egraph, call).is_ok(),
                ENode::Call(call) => {
                    let is_kept = is_original || preferred.contains(enode);
                    target.legal(egraph, call).is_ok() && (is_kept || target.may_add(egraph, call))
                }
                ENode::Leaf(value) => target.legal_leaf(egraph, *value),
                _ => true,
            };
            let mut inputs: Vec<usize> =
                egg::Language::children(enode).iter().map(|&child| index[&egraph.find(child)]).collect();
            inputs.sort_unstable();
            inputs.dedup();
            let cost = match pricing {
                None if is_original => Cost::default(),
                _ => pricing.unwrap_or(&by_nodes).own(egraph, id, enode, node),
            };
            legal.then_some(Candidate { at, cost, inputs, materials: Vec::new() })
        };
        let forms = |&id: &Id| {
            let nodes = egraph[id].nodes.iter().enumerate();
            nodes.filter_map(|(at, enode)| form(id, at, enode)).collect()
        };
        let mut of: Vec<Vec<Candidate>> = ids.iter().map(forms).collect();
        if !preferred.is_empty() {
            for (&id, forms) in ids.iter().zip(&mut of) {
                prefer(&egraph[id].nodes, forms, preferred);
            }
        }
        if let Some(pricing) = pricing {
            weights::compute(egraph, pricing, &ids, &mut of);
        }
        Candidates { takers: Users::of(&of), ids, index, of }
    }

    /// Selects the cheapest candidate of each class by tree cost.
    /// A candidate never costs less than its inputs, and a class only changes its candidate for a cheaper
    /// one, so the selection is acyclic.
    fn cheapest(&self) -> Cheapest {
        let mut cheapest =
            Cheapest { costs: vec![Cost::MAX; self.ids.len()], forms: vec![0; self.ids.len()] };
        let mut queue: std::collections::VecDeque<usize> = (0..self.ids.len()).collect();
        let mut queued = vec![true; self.ids.len()];
        while let Some(class) = queue.pop_front() {
            queued[class] = false;
            let total = |form: &Candidate| {
                form.inputs.iter().fold(form.cost, |sum, &input| sum.plus(cheapest.costs[input]))
            };
            // Among candidates with equal sums, such as saturated ones, the lowest own cost wins.
            let best = self.of[class].iter().enumerate().map(|(at, form)| (total(form), form.cost, at)).min();
            let Some((cost, _, form)) = best.filter(|best| best.0 < cheapest.costs[class]) else { continue };
            (cheapest.costs[class], cheapest.forms[class]) = (cost, form);
            for &user in self.takers.of_class(class) {
                if !queued[user] {
                    queued[user] = true;
                    queue.push_back(user);
                }
            }
        }
        cheapest
    }
}

/// Added cost of a candidate if another one is preferred.
const NOT_PREFERRED: u64 = 1 << 40;

/// If candidates of a class are preferred, raises the cost of its other candidates.
///
/// The costs do not change if the value exists without computation, such as a constant.
fn prefer(nodes: &[ENode], forms: &mut [Candidate], preferred: &FxHashSet<ENode>) {
    let is_call = |enode: &ENode| matches!(enode, ENode::Call(_) | ENode::Output { .. });
    if forms.iter().any(|form| preferred.contains(&nodes[form.at])) && nodes.iter().all(is_call) {
        for form in forms.iter_mut().filter(|form| !preferred.contains(&nodes[form.at])) {
            form.cost = form.cost.plus(Cost::new(NOT_PREFERRED));
        }
    }
}

struct Cheapest {
    costs: Vec<Cost>,
    forms: Vec<usize>,
}
