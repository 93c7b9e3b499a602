//! Chooses one form for every value that is wanted: the cheapest legal ones, shared work counted once.
//!
//! First, bottom up, the cheapest form of every class as if nothing were shared. Then the local search
//! that technology mapping calls *exact area*: class by class, each other form is tried, and its cost is
//! that of just those classes which nothing else needs. It ends when a whole pass changes nothing.

use egg::Id;
use rustc_hash::FxHashMap;

use super::cost::{Cost, own};
use super::legality::Target;
use crate::egraph::{EGraph, ENode};
use crate::graph::NodeId;

/// Passes of the local search. Each makes the whole cheaper, so that few are ever needed.
const PASSES: usize = 8;

/// The form chosen for each class that is needed.
#[derive(Debug, Default)]
pub struct Choice {
    forms: FxHashMap<Id, usize>,
    /// The least that each class costs, shared work counted as often as it is used; those that cannot
    /// be had are not there.
    possible: FxHashMap<Id, Cost>,
}

impl Choice {
    /// The form of a class that is needed.
    pub fn form<'a>(&self, egraph: &'a EGraph, class: Id) -> Option<&'a ENode> {
        let class = egraph.find(class);
        self.forms.get(&class).and_then(|&index| egraph[class].nodes.get(index))
    }

    /// Whether a class has a legal form at all.
    pub fn is_possible(&self, class: Id) -> bool {
        self.possible.contains_key(&class)
    }
}

/// Chooses forms for `roots` and all that they need.
///
/// `original` holds the forms that the graph came with. Roots without a legal form are left out of the
/// choice. With `keep`, the forms that the graph came with cost nothing, so that those which are legal stay.
pub fn choose(
    egraph: &EGraph,
    target: &Target,
    original: &FxHashMap<ENode, NodeId>,
    roots: &[Id],
    keep: bool,
) -> Choice {
    let forms = Forms::of(egraph, target, original, keep);
    let possible = forms.cheapest();
    let roots: Vec<usize> =
        roots.iter().filter_map(|&root| forms.index.get(&egraph.find(root)).copied()).collect();
    let mut search = Search::run(&forms, &possible, &roots);
    search.take_materials();
    let mut choice = Choice::default();
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

/// A legal form: its place in its class, what it costs by itself, and the classes it needs.
#[derive(Default)]
struct Form {
    at: usize,
    cost: Cost,
    inputs: Vec<usize>,
    /// The constants that it is computed of beforehand; in the model that comes of it, they are not needed.
    materials: Vec<usize>,
}

/// The legal forms of every class, classes numbered in the order of their ids.
struct Forms {
    ids: Vec<Id>,
    index: FxHashMap<Id, usize>,
    of: Vec<Vec<Form>>,
}

impl Forms {
    fn of(egraph: &EGraph, target: &Target, original: &FxHashMap<ENode, NodeId>, keep: bool) -> Self {
        let mut ids: Vec<Id> = egraph.classes().map(|class| class.id).collect();
        ids.sort_unstable();
        let index: FxHashMap<Id, usize> = ids.iter().enumerate().map(|(index, &id)| (id, index)).collect();
        let form = |(at, enode): (usize, &ENode)| {
            let is_original = original.contains_key(enode);
            let legal = match enode {
                ENode::Call(call) => (target.is_source && is_original) || target.legal(egraph, call).is_ok(),
                ENode::Leaf(value) => target.legal_leaf(egraph, *value),
                _ => true,
            };
            let mut inputs: Vec<usize> =
                egg::Language::children(enode).iter().map(|&child| index[&egraph.find(child)]).collect();
            inputs.sort_unstable();
            inputs.dedup();
            let cost = if keep && is_original { Cost::default() } else { own(egraph, enode, is_original) };
            legal.then_some(Form { at, cost, inputs, materials: Vec::new() })
        };
        let of =
            ids.iter().map(|&id| egraph[id].nodes.iter().enumerate().filter_map(form).collect()).collect();
        let mut forms = Forms { ids, index, of };
        if !keep {
            weights::compute(egraph, &mut forms);
        }
        forms
    }

    /// For each class the form that is cheapest if nothing is shared. A form never costs less than its
    /// inputs, and a class takes another form only where that is cheaper than what it had, so that the
    /// forms chosen never lead back to themselves.
    fn cheapest(&self) -> Cheapest {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.ids.len()];
        for (class, forms) in self.of.iter().enumerate() {
            for &input in forms.iter().flat_map(|form| &form.inputs) {
                users[input].push(class);
            }
        }
        let mut cheapest =
            Cheapest { costs: vec![Cost::MAX; self.ids.len()], forms: vec![0; self.ids.len()] };
        let mut queue: std::collections::VecDeque<usize> = (0..self.ids.len()).collect();
        let mut queued = vec![true; self.ids.len()];
        while let Some(class) = queue.pop_front() {
            queued[class] = false;
            let total = |form: &Form| {
                form.inputs.iter().fold(form.cost, |sum, &input| sum.plus(cheapest.costs[input]))
            };
            // Where sums are too large to tell forms apart, what each costs by itself does.
            let best = self.of[class].iter().enumerate().map(|(at, form)| (total(form), form.cost, at)).min();
            let Some((cost, _, form)) = best.filter(|best| best.0 < cheapest.costs[class]) else { continue };
            (cheapest.costs[class], cheapest.forms[class]) = (cost, form);
            for &user in &users[class] {
                if !queued[user] {
                    queued[user] = true;
                    queue.push_back(user);
                }
            }
        }
        cheapest
    }
}

struct Cheapest {
    costs: Vec<Cost>,
    forms: Vec<usize>,
}

/// The local search: how many chosen forms use each class.
struct Search<'a> {
    forms: &'a Forms,
    possible: &'a Cheapest,
    chosen: Vec<usize>,
    users: Vec<u32>,
    /// The component of classes that can lead to one another, where a choice could close a cycle.
    component: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(forms: &'a Forms, possible: &'a Cheapest) -> Self {
        Search {
            forms,
            possible,
            chosen: possible.forms.clone(),
            users: vec![0; forms.ids.len()],
            component: components(forms),
        }
    }

    /// Chooses for those of the roots that can be had.
    fn run(forms: &'a Forms, possible: &'a Cheapest, roots: &[usize]) -> Self {
        let mut search = Search::new(forms, possible);
        for &root in roots.iter().filter(|&&root| possible.costs[root].is_finite()) {
            search.take(root);
        }
        for _ in 0..PASSES {
            if !search.improve() {
                break;
            }
        }
        search
    }

    /// Uses a class once more; the cost of what is newly needed.
    fn take(&mut self, class: usize) -> Cost {
        let mut cost = Cost::default();
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            self.users[class] += 1;
            if self.users[class] == 1 {
                let form = &self.forms.of[class][self.chosen[class]];
                cost = cost.plus(form.cost);
                open.extend(&form.inputs);
            }
        }
        cost
    }

    /// Uses a class once less; the cost of what is no longer needed.
    fn drop(&mut self, class: usize) -> Cost {
        let mut cost = Cost::default();
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            self.users[class] -= 1;
            if self.users[class] == 0 {
                let form = &self.forms.of[class][self.chosen[class]];
                cost = cost.plus(form.cost);
                open.extend(&form.inputs);
            }
        }
        cost
    }

    /// Uses what the chosen constants are computed of.
    fn take_materials(&mut self) {
        let mut open: Vec<usize> = (0..self.users.len()).filter(|&class| self.users[class] > 0).collect();
        while let Some(class) = open.pop() {
            let form = &self.forms.of[class][self.chosen[class]];
            for &material in &form.materials {
                self.users[material] += 1;
                if self.users[material] == 1 {
                    open.push(material);
                }
            }
        }
    }

    fn take_inputs(&mut self, class: usize) -> Cost {
        let forms = self.forms;
        let form = &forms.of[class][self.chosen[class]];
        form.inputs.iter().fold(form.cost, |sum, &input| sum.plus(self.take(input)))
    }

    fn drop_inputs(&mut self, class: usize) -> Cost {
        let forms = self.forms;
        let form = &forms.of[class][self.chosen[class]];
        form.inputs.iter().fold(form.cost, |sum, &input| sum.plus(self.drop(input)))
    }

    /// One pass over the classes that have a choice; whether anything changed.
    fn improve(&mut self) -> bool {
        let mut changed = false;
        for class in 0..self.forms.ids.len() {
            if self.users[class] > 0 && self.forms.of[class].len() > 1 {
                changed |= self.improve_class(class);
            }
        }
        changed
    }

    fn improve_class(&mut self, class: usize) -> bool {
        let before = self.chosen[class];
        let mut best = (self.drop_inputs(class), before);
        for form in 0..self.forms.of[class].len() {
            if form == before || !self.is_usable(class, form) {
                continue;
            }
            self.chosen[class] = form;
            let cost = self.take_inputs(class);
            self.drop_inputs(class);
            if cost < best.0 {
                best = (cost, form);
            }
        }
        self.chosen[class] = best.1;
        self.take_inputs(class);
        best.1 != before
    }

    /// Whether every input of a form can be had, and none of them is made from `class` itself.
    fn is_usable(&self, class: usize, form: usize) -> bool {
        let inputs = &self.forms.of[class][form].inputs;
        inputs.iter().all(|&input| self.possible.costs[input].is_finite()) && !self.leads_to(inputs, class)
    }

    /// Whether the chosen forms lead from one of `from` to `class`. Only classes of the same component
    /// can.
    fn leads_to(&self, from: &[usize], class: usize) -> bool {
        let same = |other: usize| self.component[other] == self.component[class];
        let mut open: Vec<usize> = from.iter().copied().filter(|&input| same(input)).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(at) = open.pop() {
            if at == class {
                return true;
            }
            if seen.insert(at) {
                let inputs = &self.forms.of[at][self.chosen[at]].inputs;
                open.extend(inputs.iter().copied().filter(|&input| same(input)));
            }
        }
        false
    }
}

/// Numbers the strongly connected components of the classes, every form counted.
fn components(forms: &Forms) -> Vec<u32> {
    let edges = forms.of.iter().enumerate().flat_map(|(class, forms)| {
        forms.iter().flat_map(move |form| form.inputs.iter().map(move |&input| (class, input)))
    });
    crate::graph::order::components(forms.ids.len(), edges)
}

mod weights;

#[cfg(test)]
mod tests;
