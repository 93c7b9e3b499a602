//! Local search by *exact area*, as in technology mapping.
//! Each alternative of a class is tried; the cost of an alternative includes only classes without other
//! users. The search ends when a pass changes nothing, or after a fixed number of passes.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{Candidate, Candidates, Cheapest};
use crate::extract::cost::Cost;
use crate::graph::order;

/// Maximum number of passes. The search ends earlier if a pass does not lower the total cost.
const PASSES: usize = 8;

/// Maximum number of classes to mark unused while comparing the candidates of a class, nearest first.
/// Candidates of a class mostly differ in the nearest classes below it. If each class of a long chain
/// marked the whole chain below it unused, the time would be quadratic.
const NEAR: usize = 256;

/// Selection of a candidate for every class, with the number of selected users of each class.
pub(super) struct LocalSearch<'a> {
    pub(super) forms: &'a Candidates,
    pub(super) possible: &'a Cheapest,
    pub(super) chosen: Vec<usize>,
    pub(super) users: Vec<u32>,
    /// Strongly connected component of each class; all classes of a cycle are in the same one.
    component: Vec<u32>,
    /// Previous selections, for reverting a move.
    pub(super) journal: Vec<(usize, usize)>,
}

/// Costs saved and added by a change.
#[derive(Clone, Copy, Default)]
pub(super) struct Balance {
    pub(super) saved: Cost,
    pub(super) paid: Cost,
}

impl Balance {
    /// Adds the costs of another balance.
    pub(super) fn add(&mut self, other: Balance) {
        self.saved = self.saved.plus(other.saved);
        self.paid = self.paid.plus(other.paid);
    }

    /// Returns true if the change lowers the cost.
    pub(super) fn is_gain(self) -> bool {
        self.paid < self.saved
    }
}

impl<'a> LocalSearch<'a> {
    fn new(forms: &'a Candidates, possible: &'a Cheapest) -> Self {
        LocalSearch {
            forms,
            possible,
            chosen: possible.forms.clone(),
            users: vec![0; forms.ids.len()],
            component: order::components(forms.ids.len(), forms.takers.edges()),
            journal: Vec::new(),
        }
    }

    /// Selects candidates for the roots that can be extracted.
    pub(super) fn run(forms: &'a Candidates, possible: &'a Cheapest, roots: &[usize]) -> Self {
        let mut search = LocalSearch::new(forms, possible);
        for &root in roots.iter().filter(|&&root| possible.costs[root].is_finite()) {
            search.take(root);
        }
        for _ in 0..PASSES {
            let is_better = search.improve();
            if !search.improve_together() && !is_better {
                break;
            }
        }
        search
    }

    /// Adds a use of a class; returns the cost of newly needed classes.
    pub(super) fn take(&mut self, class: usize) -> Cost {
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

    /// Removes one use of each given class; returns the cost of the classes that become unused.
    pub(super) fn drop(&mut self, classes: impl Into<VecDeque<usize>>) -> Cost {
        self.drop_some(classes.into(), usize::MAX).0
    }

    /// Like [`LocalSearch::drop`], but stops when `most` classes have become unused, nearest first.
    /// Returns the cost of the unused classes, and the uses that remain to be [dropped](LocalSearch::drop).
    fn drop_some(&mut self, mut open: VecDeque<usize>, most: usize) -> (Cost, VecDeque<usize>) {
        let mut cost = Cost::default();
        let mut count = 0;
        while count < most
            && let Some(class) = open.pop_front()
        {
            self.users[class] -= 1;
            if self.users[class] == 0 {
                let form = &self.forms.of[class][self.chosen[class]];
                cost = cost.plus(form.cost);
                open.extend(&form.inputs);
                count += 1;
            }
        }
        (cost, open)
    }

    /// Adds uses of the materials of folded constants.
    pub(super) fn take_materials(&mut self) {
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

    /// Like [`LocalSearch::drop_some`], for the [nearest](NEAR) classes below the selected candidate.
    /// The returned cost includes that of the candidate.
    fn drop_near(&mut self, class: usize) -> (Cost, VecDeque<usize>) {
        let forms = self.forms;
        let form = &forms.of[class][self.chosen[class]];
        let (cost, held) = self.drop_some(form.inputs.iter().copied().collect(), NEAR);
        (cost.plus(form.cost), held)
    }

    /// Runs one pass over the needed classes with several candidates; returns true if anything changed.
    fn improve(&mut self) -> bool {
        let mut changed = false;
        for class in 0..self.forms.ids.len() {
            if self.users[class] > 0 && self.forms.of[class].len() > 1 {
                changed |= self.improve_class(class, None).is_some_and(Balance::is_gain);
            }
        }
        self.journal.clear();
        changed
    }

    /// Selects the cheapest candidate of a needed class, among those that do not use `avoided`.
    /// All other selections remain unchanged.
    /// Returns `None` and changes nothing if every candidate uses `avoided` or cannot be selected.
    pub(super) fn improve_class(&mut self, class: usize, avoided: Option<usize>) -> Option<Balance> {
        let forms = self.forms;
        let before = self.chosen[class];
        let avoids =
            |form: usize| avoided.is_none_or(|avoided| !forms.of[class][form].inputs.contains(&avoided));
        let (mut saved, held) = self.drop_near(class);
        let mut best = avoids(before).then_some((saved, before));
        for (at, form) in forms.of[class].iter().enumerate().filter(|&(at, _)| at != before && avoids(at)) {
            if !self.is_possible(form) {
                continue;
            }
            let cost = self.below(form, best.map_or(Cost::MAX, |best| best.0));
            // Check for cycles last, because it may visit the whole selection.
            if let Some(cost) = cost.filter(|_| !self.leads_to(&form.inputs, class)) {
                best = Some((cost, at));
            }
        }
        self.chosen[class] = best.map_or(before, |best| best.1);
        let paid = self.take_inputs(class);
        saved = saved.plus(self.drop(held));
        if self.chosen[class] != before {
            self.journal.push((class, before));
        }
        best.map(|_| Balance { saved, paid })
    }

    /// Restores the selections in the journal, last first.
    pub(super) fn take_back(&mut self) {
        while let Some((class, before)) = self.journal.pop() {
            let (_, held) = self.drop_near(class);
            self.chosen[class] = before;
            self.take_inputs(class);
            self.drop(held);
        }
    }

    /// Returns the cost of a candidate if it is below a bound; the selection remains unchanged.
    /// Stops once the bound is reached.
    fn below(&mut self, form: &Candidate, bound: Cost) -> Option<Cost> {
        let mut cost = form.cost;
        let mut open = form.inputs.clone();
        let mut taken = Vec::new();
        while cost < bound
            && let Some(class) = open.pop()
        {
            self.users[class] += 1;
            taken.push(class);
            if self.users[class] == 1 {
                let form = &self.forms.of[class][self.chosen[class]];
                cost = cost.plus(form.cost);
                open.extend(&form.inputs);
            }
        }
        taken.into_iter().for_each(|class| self.users[class] -= 1);
        (cost < bound).then_some(cost)
    }

    /// Returns true if every input of a candidate can be extracted.
    fn is_possible(&self, form: &Candidate) -> bool {
        form.inputs.iter().all(|&input| self.possible.costs[input].is_finite())
    }

    /// Returns true if selected candidates lead from a class in `from` to `class`.
    /// The classes in `from` are inputs of a candidate of `class`, so only those in the same strongly
    /// connected component can lead to `class`.
    fn leads_to(&self, from: &[usize], class: usize) -> bool {
        let same = |other: usize| self.component[other] == self.component[class];
        let mut open: Vec<usize> = from.iter().copied().filter(|&input| same(input)).collect();
        let mut seen = FxHashSet::default();
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
