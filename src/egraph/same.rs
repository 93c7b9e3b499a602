//! Which values of a graph are the same, as far as rules tell.

use rustc_hash::FxHashMap;

use super::saturate::Saturation;
use super::{Built, EGraph, build, rebuild};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, ValueId, order};
use crate::infer::Facts;
use crate::rules::rule::Rule;

/// A graph whose equal values are found: of the same operators on the same inputs, and by rules.
pub struct Same<'m, 'r> {
    built: Built<'m>,
    saturation: Saturation<'r>,
}

impl<'m, 'r> Same<'m, 'r> {
    /// Knows what is the same without any rule.
    ///
    /// # Errors
    /// The graph has a cycle.
    pub fn new(model: &'m Model, graph: GraphId, facts: &Facts, uses: &Uses) -> Result<Self, order::Cycle> {
        Ok(Same { built: build(model, graph, facts, uses)?, saturation: Saturation::default() })
    }

    /// Lets rules say what else is the same. Those of a call before must be among them.
    pub fn saturate(&mut self, rules: &[&'r Rule]) {
        self.saturation.run(&mut self.built.egraph, rules, &|_: &EGraph, _, _| false);
    }

    /// Takes two values to be one: whoever says so must know. What follows of it is known after [`Same::settle`].
    pub fn unite(&mut self, a: ValueId, b: ValueId) {
        if let (Some(&a), Some(&b)) = (self.built.class_of.get(&a), self.built.class_of.get(&b)) {
            self.built.egraph.union(a, b);
        }
    }

    /// Draws the conclusions from what was united.
    pub fn settle(&mut self) {
        rebuild(&mut self.built.egraph);
    }

    /// A number for a value of the graph, the same for another where both are the same: until something is united.
    pub fn class(&self, value: ValueId) -> Option<usize> {
        self.built.class_of.get(&value).map(|&class| usize::from(self.built.egraph.find(class)))
    }

    /// That of every value of the graph.
    pub fn classes(&self) -> FxHashMap<ValueId, usize> {
        self.built.class_of.keys().filter_map(|&value| Some((value, self.class(value)?))).collect()
    }

    /// Facts that contradicted each other: something was taken to be the same that is not.
    pub fn conflicts(&self) -> &[String] {
        &self.built.egraph.analysis.conflicts
    }
}
