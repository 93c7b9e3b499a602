//! Moves that change several classes at once, because each change alone would raise the cost.
//!
//! A value may be worth its cost only if several users share it: a matrix product may reduce the cost
//! only if two e-nodes use it. One kind of move selects an unused class tentatively, and re-optimizes its
//! potential users. Another kind of move makes all users of a class avoid this class at once. A move is
//! reverted unless it lowers the total cost.

use super::search::{Balance, LocalSearch};

/// Maximum number of potential users of a class in a move, to keep the search linear.
const MOST_TAKERS: usize = 64;

impl LocalSearch<'_> {
    /// Runs one pass over all classes; returns true if anything changed.
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

    /// Tentatively selects an unused class, and keeps it if the total cost drops.
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
            // Restore the tentative use first: changed classes may be in use only through it.
            self.take(class);
            self.take_back();
            self.drop([class]);
        }
        self.journal.clear();
        balance.is_gain()
    }

    /// Tentatively makes all users of a class avoid it, and keeps the change if the total cost drops.
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
            // After the previous changes, this user may be unused, or may already avoid the class.
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

/// Removes duplicates, which are adjacent in a list of users.
fn distinct(takers: &[usize]) -> impl Iterator<Item = usize> {
    takers.chunk_by(|a, b| a == b).map(|same| same[0])
}
