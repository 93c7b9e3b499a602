//! Equality of values in a graph, as proved by congruence and rules.

use rustc_hash::FxHashMap;

use super::saturate::Saturation;
use super::{Built, Contents, EGraph, build, rebuild};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, ValueId, order};
use crate::infer::Facts;
use crate::rules::rule::Rule;

/// Equality checker for the values of a graph.
pub struct EquivalenceChecker<'m, 'r> {
    built: Built<'m>,
    saturation: Saturation<'r>,
}

impl<'m, 'r> EquivalenceChecker<'m, 'r> {
    /// Creates a checker that proves equality by congruence only, until rules are applied.
    ///
    /// # Errors
    /// The graph has a cycle.
    pub fn new(model: &'m Model, graph: GraphId, facts: &Facts, uses: &Uses) -> Result<Self, order::Cycle> {
        Ok(EquivalenceChecker {
            built: build(model, graph, facts, uses, true)?,
            saturation: Saturation::new(true, true),
        })
    }

    /// Applies rules to prove more equalities. `rules` must include the rules of previous calls.
    pub fn saturate(&mut self, rules: &[&'r Rule]) {
        self.saturation.run(&mut self.built.egraph, rules, &|_: &EGraph, _, _| false);
    }

    /// Merges values of equal element type and shape whose [`Contents`] are proved equal.
    /// Returns true if any were merged.
    pub fn unite_contents(&mut self, contents: &mut Contents) -> bool {
        contents.unite(&mut self.built.egraph)
    }

    /// Asserts `a == b` without proof; the caller guarantees it.
    ///
    /// Call [`EquivalenceChecker::settle`] to propagate the equality.
    pub fn unite(&mut self, a: ValueId, b: ValueId) {
        if let (Some(&a), Some(&b)) = (self.built.class_of.get(&a), self.built.class_of.get(&b)) {
            self.built.egraph.union(a, b);
        }
    }

    /// Propagates the asserted equalities.
    pub fn settle(&mut self) {
        rebuild(&mut self.built.egraph);
    }

    /// Returns the class number of a value; values proved equal have the same number.
    /// A class number is valid until the next change of the e-graph.
    pub fn class(&self, value: ValueId) -> Option<usize> {
        self.built.class_of.get(&value).map(|&class| usize::from(self.built.egraph.find(class)))
    }

    /// Returns the class numbers of all values of the graph.
    pub fn classes(&self) -> FxHashMap<ValueId, usize> {
        self.built.class_of.keys().filter_map(|&value| Some((value, self.class(value)?))).collect()
    }

    /// Returns contradictions between facts of values in one class.
    pub fn conflicts(&self) -> &[String] {
        &self.built.egraph.analysis.conflicts
    }
}
