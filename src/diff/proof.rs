//! Proves equality of values of two models.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::combined::Combined;
use super::numbers::{Numbers, is_drawn};
use crate::egraph::{Contents, EquivalenceChecker, is_opaque};
use crate::graph::scopes::captures_of_node;
use crate::graph::uses::Uses;
use crate::graph::{AttrValue, Initial, Model, NodeId, TensorId, ValueId, order};
use crate::infer;
use crate::rules::rule::Rule;

/// Equalities between the values of two combined models.
pub struct Proof {
    /// Class number of each value; values with equal numbers are proved equal.
    pub classes: FxHashMap<ValueId, usize>,
    /// Random or unknown operators that are assumed to behave equally in both models.
    pub assumed: BTreeSet<String>,
}

impl Proof {
    /// Returns true if two values are proved equal.
    pub fn is_same(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.classes.get(&a).is_some_and(|a| self.classes.get(&b) == Some(a))
    }
}

/// Proves equalities by rules, and by contents; with `rounds`, results may differ by rounding.
/// Returns `None` if a graph has a cycle, or if facts contradict each other.
pub fn prove(both: &Combined, rules: &[&Rule], rounds: bool) -> Option<Proof> {
    let model = &both.model;
    let facts = infer::infer(model, infer::Options { use_declared: false });
    let uses = Uses::new(model);
    let mut same = EquivalenceChecker::new(model, model.main, &facts, &uses).ok()?;
    unite_constants(model, &mut same);
    let opaque = by_depth(model);
    let mut pairing = Pairing { both, paired: BTreeSet::new(), assumed: BTreeSet::new() };
    let mut contents = Contents::new(rounds);
    loop {
        let mut is_new = pairing.pair(&opaque, &mut same);
        if !rules.is_empty() {
            same.saturate(rules);
            is_new |= same.unite_contents(&mut contents);
        }
        if !is_new {
            break;
        }
    }
    same.conflicts().is_empty().then(|| Proof { classes: same.classes(), assumed: pairing.assumed })
}

/// Merges constants that share a tensor. The e-graph by itself merges only small constants, by content.
fn unite_constants(model: &Model, same: &mut EquivalenceChecker) {
    let mut first: FxHashMap<TensorId, ValueId> = FxHashMap::default();
    let main = &model.graphs[model.main];
    let initializers = main.initializers.iter().filter_map(|&value| {
        model.constant(value)?;
        match model.values[value].initial {
            Some(Initial::Dense(tensor)) => Some((tensor, value)),
            _ => None,
        }
    });
    let constants = main.nodes.iter().filter_map(|&node| {
        let node = &model.nodes[node];
        let is_constant = node.is("Constant");
        let tensor = node.attr("value").and_then(AttrValue::as_tensor).filter(|_| is_constant)?;
        Some((tensor, node.output(0)?))
    });
    for (tensor, value) in initializers.chain(constants) {
        match first.get(&tensor) {
            Some(&other) => same.unite(other, value),
            None => drop(first.insert(tensor, value)),
        }
    }
    same.settle();
}

/// Groups opaque nodes by the maximum number of opaque nodes on a path to them.
fn by_depth(model: &Model) -> Vec<Vec<NodeId>> {
    let mut depths: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut levels: Vec<Vec<NodeId>> = Vec::new();
    for id in order::sorted_or_file(model, model.main) {
        let node = &model.nodes[id];
        let captured = captures_of_node(model, id);
        let taken = node.inputs.iter().flatten().chain(&captured);
        let mut depth = taken.filter_map(|value| depths.get(value)).copied().max().unwrap_or(0);
        if is_opaque(model, id) {
            levels.resize_with(levels.len().max(depth + 1), Vec::new);
            levels[depth].push(id);
            depth += 1;
        }
        depths.extend(node.outputs.iter().flatten().map(|&output| (output, depth)));
    }
    levels
}

/// Pairing of equal opaque nodes, which the e-graph keeps apart.
struct Pairing<'b> {
    both: &'b Combined,
    paired: BTreeSet<NodeId>,
    assumed: BTreeSet<String>,
}

impl Pairing<'_> {
    /// Pairs nodes that are proved equal so far; returns true if it found a new pair.
    fn pair(&mut self, levels: &[Vec<NodeId>], same: &mut EquivalenceChecker) -> bool {
        let mut is_new = false;
        for level in levels {
            let open: Vec<NodeId> =
                level.iter().copied().filter(|node| !self.paired.contains(node)).collect();
            if !open.is_empty() {
                is_new |= self.pair_level(&open, same);
                same.settle();
            }
        }
        is_new
    }

    fn pair_level(&mut self, open: &[NodeId], same: &mut EquivalenceChecker) -> bool {
        let model = &self.both.model;
        let mut numbers = Numbers::default();
        let mut alike: FxHashMap<usize, (Vec<NodeId>, Vec<NodeId>)> = FxHashMap::default();
        for &node in open {
            let (first, second) =
                alike.entry(numbers.of_call(model, &|value| same.class(value), node)).or_default();
            if self.both.is_second(node) { second.push(node) } else { first.push(node) }
        }
        let mut is_new = false;
        for (first, second) in alike.into_values() {
            let Some(&leader) = first.first() else { continue };
            // Calls of random or unknown operators differ each time: pair one of each model.
            let pairs: Vec<(NodeId, NodeId)> = match is_drawn(model, leader) {
                true => first.iter().copied().zip(second.iter().copied()).collect(),
                false => first.iter().skip(1).chain(&second).map(|&other| (leader, other)).collect(),
            };
            for (a, b) in pairs {
                is_new = true;
                self.paired.insert(b);
                let outputs = model.nodes[a].outputs.iter().zip(&model.nodes[b].outputs);
                for (a, b) in outputs {
                    if let (Some(a), Some(b)) = (*a, *b) {
                        same.unite(a, b);
                    }
                }
                if is_drawn(model, a) {
                    self.paired.insert(a);
                    self.assumed.insert(model.nodes[a].op_name());
                }
            }
        }
        is_new
    }
}
