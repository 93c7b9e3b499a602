//! Reverse edges: for each class, the classes with a candidate that uses it.

use super::Candidate;

/// Reverse edges in compressed form: one list of users, sorted by the class that they use.
pub(super) struct Users {
    starts: Vec<usize>,
    classes: Vec<usize>,
}

impl Users {
    /// Collects the users of every class from its candidates.
    pub(super) fn of(forms: &[Vec<Candidate>]) -> Self {
        let mut starts = vec![0; forms.len() + 1];
        let edges = || {
            forms.iter().enumerate().flat_map(|(class, forms)| {
                forms.iter().flat_map(move |form| form.inputs.iter().map(move |&input| (class, input)))
            })
        };
        edges().for_each(|(_, input)| starts[input + 1] += 1);
        for class in 0..forms.len() {
            starts[class + 1] += starts[class];
        }
        let mut next = starts.clone();
        let mut classes = vec![0; starts[forms.len()]];
        for (class, input) in edges() {
            classes[next[input]] = class;
            next[input] += 1;
        }
        Users { starts, classes }
    }

    /// Returns the users of a class, one entry per use in a candidate; equal entries are adjacent.
    pub(super) fn of_class(&self, class: usize) -> &[usize] {
        &self.classes[self.starts[class]..self.starts[class + 1]]
    }

    /// Iterates over all pairs of a user and the class it uses.
    pub(super) fn edges(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        let mut input = 0;
        self.classes.iter().enumerate().map(move |(at, &class)| {
            while self.starts[input + 1] <= at {
                input += 1;
            }
            (class, input)
        })
    }
}
