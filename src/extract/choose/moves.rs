//! Changes of several classes that pay only together.
//!
//! A value may be worth its cost only if all who could take it do: a product that two of its forms share, where each of
//! them alone is cheaper without it. So a class that nothing needs is put there as a gift, all who could take it choose
//! anew, and the sum decides whether it stays. The other way round, a class that is needed is taken away from all who
//! take it at once. What does not pay is taken back.

use super::search::{Balance, Search};

/// A class that more than so many others could take is left as it is: there are few, and to ask all again and again
/// would not be linear.
const MOST_TAKERS: usize = 64;

impl Search<'_> {
    /// One pass over all classes; whether anything changed.
    pub(super) fn improve_together(&mut self) -> bool {
        let mut changed = false;
        for class in 0..self.forms.ids.len() {
            let takers = self.forms.takers.of_class(class);
            if takers.len() > MOST_TAKERS || !self.possible.costs[class].is_finite() {
                continue;
            }
            changed |= match self.users[class] {
                0 => self.give(class, takers),
                _ => self.withhold(class, takers),
            };
        }
        changed
    }

    /// Tries what a class would be worth that nothing needs now.
    fn give(&mut self, class: usize, takers: &[usize]) -> bool {
        let has_choice = |&taker: &usize| self.users[taker] > 0 && self.forms.of[taker].len() > 1;
        if takers.iter().filter(|taker| has_choice(taker)).nth(1).is_none() {
            return false;
        }
        let mut balance = Balance { paid: self.take(class), ..Balance::default() };
        for taker in distinct(takers) {
            if self.users[taker] > 0 {
                balance.add(self.improve_class(taker, None).unwrap_or_default());
            }
        }
        balance.saved = balance.saved.plus(self.drop([class]));
        if !balance.is_gain() {
            // It may be the gift alone that needs what changed.
            self.take(class);
            self.take_back();
            self.drop([class]);
        }
        self.journal.clear();
        balance.is_gain()
    }

    /// Tries what a class costs that is needed now, by those that take it doing without.
    fn withhold(&mut self, class: usize, takers: &[usize]) -> bool {
        let forms = self.forms;
        let takes = |search: &Self, taker: usize, form: usize| {
            forms.of[taker].get(form).is_some_and(|form| form.inputs.contains(&class))
                && search.users[taker] > 0
        };
        let users: Vec<usize> =
            distinct(takers).filter(|&taker| takes(self, taker, self.chosen[taker])).collect();
        let can_do_without =
            |&taker: &usize| forms.of[taker].iter().any(|form| !form.inputs.contains(&class));
        if users.len() < 2 || users.len() < self.users[class] as usize || !users.iter().all(can_do_without) {
            return false;
        }
        let mut balance = Balance::default();
        for taker in users {
            // What the one before does instead may need this one no longer, or let it do without already.
            if !takes(self, taker, self.chosen[taker]) {
                continue;
            }
            match self.improve_class(taker, Some(class)) {
                Some(change) => balance.add(change),
                None => {
                    self.take_back();
                    return false;
                }
            }
        }
        if !balance.is_gain() {
            self.take_back();
        }
        self.journal.clear();
        balance.is_gain()
    }
}

/// Equal ones follow each other in a list of takers.
fn distinct(takers: &[usize]) -> impl Iterator<Item = usize> {
    takers.chunk_by(|a, b| a == b).map(|same| same[0])
}
