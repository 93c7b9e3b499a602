//! The record of the passes that ran.

use serde::Serialize;

/// A pass that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassRun {
    /// Name of the pass: `constant-folding`.
    pub id: &'static str,
    /// Effect of the pass, in one sentence.
    pub summary: &'static str,
    /// Number of changes that the pass made.
    pub changes: usize,
}

/// The pass of each change, in the order of the changes.
#[derive(Debug, Default)]
pub struct Record {
    /// Each pass that ran, in the order of the first runs.
    passes: Vec<PassRun>,
    /// For each run, the index of the pass in `passes` and the total number of changes after the run.
    runs: Vec<(usize, usize)>,
}

impl Record {
    /// Records that a pass ran; `changes` is the total number of changes afterwards.
    pub fn ran(&mut self, id: &'static str, summary: &'static str, changes: usize) {
        let before = self.runs.last().map_or(0, |(_, end)| *end);
        let known = self.passes.iter().position(|pass| pass.id == id);
        let pass = known.unwrap_or_else(|| {
            self.passes.push(PassRun { id, summary, changes: 0 });
            self.passes.len() - 1
        });
        self.passes[pass].changes += changes - before;
        self.runs.push((pass, changes));
    }

    /// Returns the id of the pass that made a change, by the index of the change.
    pub fn pass_of(&self, change: usize) -> Option<&'static str> {
        let at = self.runs.partition_point(|(_, end)| *end <= change);
        self.runs.get(at).map(|(pass, _)| self.passes[*pass].id)
    }

    /// Returns each pass that ran, with the number of its changes, in the order of the first runs.
    pub fn passes(&self) -> &[PassRun] {
        &self.passes
    }
}

#[cfg(test)]
mod tests {
    use super::{PassRun, Record};

    #[test]
    fn each_change_belongs_to_the_pass_that_ran() {
        let mut record = Record::default();
        for (id, changes) in [("a", 2), ("b", 2), ("c", 3), ("a", 4)] {
            record.ran(id, "", changes);
        }
        let run = |id, changes| PassRun { id, summary: "", changes };
        assert_eq!(record.passes(), [run("a", 3), run("b", 0), run("c", 1)]);
        let passes: Vec<_> = (0..5).map(|change| record.pass_of(change)).collect();
        assert_eq!(passes, [Some("a"), Some("a"), Some("c"), Some("a"), None]);
    }
}
