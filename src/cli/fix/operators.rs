//! Changes in the number of nodes of each operator.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::graph::{Model, scopes};

/// Number of nodes of an operator before and after the run.
pub struct Operator {
    pub name: String,
    pub before: usize,
    pub after: usize,
}

/// Returns the operators whose number of nodes changed, the largest change first.
pub fn operators(before: &Model, after: &Model) -> Vec<Operator> {
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let names = |model: &Model| -> Vec<String> {
        let graphs = scopes::live(model).into_iter();
        graphs.flat_map(|graph| &model.graphs[graph].nodes).map(|&node| model.nodes[node].op_name()).collect()
    };
    names(before).into_iter().for_each(|name| found.entry(name).or_default().0 += 1);
    names(after).into_iter().for_each(|name| found.entry(name).or_default().1 += 1);
    let changed = found.into_iter().filter(|(_, (before, after))| before != after);
    let operator = |(name, (before, after))| Operator { name, before, after };
    let mut operators: Vec<Operator> = changed.map(operator).collect();
    operators.sort_by_key(|operator| Reverse(operator.before.abs_diff(operator.after)));
    operators
}
