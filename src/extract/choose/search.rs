//! The local search that technology mapping calls *exact area*: class by class, each other form is tried, and its cost is
//! that of just those classes which nothing else needs. It ends when a whole pass changes nothing.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{Cheapest, Form, Forms};
use crate::extract::cost::Cost;
use crate::graph::order;

/// Passes of the local search. Each makes the whole cheaper, so that few are ever needed.
const PASSES: usize = 8;

/// Of the classes that only one of them needs, so many are given up while its forms are compared, the nearest first: forms
/// differ near to where they are taken, and a long chain would be given up and taken again for each class of it.
const NEAR: usize = 256;

/// A choice of a form for every class, and how many of the chosen forms use each.
pub(super) struct Search<'a> {
    pub(super) forms: &'a Forms,
    pub(super) possible: &'a Cheapest,
    pub(super) chosen: Vec<usize>,
    pub(super) users: Vec<u32>,
    /// The component of classes that can lead to one another, where a choice could close a cycle.
    component: Vec<u32>,
    /// The forms that classes had before, for what has to be taken back.
    pub(super) journal: Vec<(usize, usize)>,
}

/// What a change saves, and what it costs.
#[derive(Clone, Copy, Default)]
pub(super) struct Balance {
    pub(super) saved: Cost,
    pub(super) paid: Cost,
}

impl Balance {
    pub(super) fn add(&mut self, other: Balance) {
        self.saved = self.saved.plus(other.saved);
        self.paid = self.paid.plus(other.paid);
    }

    pub(super) fn is_gain(self) -> bool {
        self.paid < self.saved
    }
}

impl<'a> Search<'a> {
    fn new(forms: &'a Forms, possible: &'a Cheapest) -> Self {
        Search {
            forms,
            possible,
            chosen: possible.forms.clone(),
            users: vec![0; forms.ids.len()],
            component: order::components(forms.ids.len(), forms.takers.edges()),
            journal: Vec::new(),
        }
    }

    /// Chooses for those of the roots that can be had.
    pub(super) fn run(forms: &'a Forms, possible: &'a Cheapest, roots: &[usize]) -> Self {
        let mut search = Search::new(forms, possible);
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

    /// Uses a class once more; the cost of what is newly needed.
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

    /// Uses classes once less; the cost of what is no longer needed.
    pub(super) fn drop(&mut self, classes: impl Into<VecDeque<usize>>) -> Cost {
        self.drop_some(classes.into(), usize::MAX).0
    }

    /// Uses classes once less, the nearest first; the cost of what is no longer needed, and the uses that were held back
    /// when so many classes were given up. Those are there still, until they are [dropped](Search::drop) too.
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

    /// Uses what the chosen constants are computed of.
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

    /// As [`Search::drop_some`], of the [nearest](NEAR) that the form of a class takes, its own cost counted.
    fn drop_near(&mut self, class: usize) -> (Cost, VecDeque<usize>) {
        let forms = self.forms;
        let form = &forms.of[class][self.chosen[class]];
        let (cost, held) = self.drop_some(form.inputs.iter().copied().collect(), NEAR);
        (cost.plus(form.cost), held)
    }

    /// One pass over the classes that have a choice; whether anything changed.
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

    /// Gives a class that is needed its cheapest form, as all others stand; one that does not take `avoided`. `None`
    /// where there is no such form, and nothing was done.
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
            // Last what may look at all that is chosen: of many forms that are as good, at none.
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

    /// Takes back what is in the journal.
    pub(super) fn take_back(&mut self) {
        while let Some((class, before)) = self.journal.pop() {
            let (_, held) = self.drop_near(class);
            self.chosen[class] = before;
            self.take_inputs(class);
            self.drop(held);
        }
    }

    /// What a form would cost, as all others stand, if that is below a bound: what costs more is not followed to its end.
    fn below(&mut self, form: &Form, bound: Cost) -> Option<Cost> {
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

    /// Whether every input of a form can be had.
    fn is_possible(&self, form: &Form) -> bool {
        form.inputs.iter().all(|&input| self.possible.costs[input].is_finite())
    }

    /// Whether the chosen forms lead from one of `from` to `class`. Only classes of the same component
    /// can.
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
