//! Which values of two models are shown to be the same.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::beside::Beside;
use super::numbers::{Numbers, is_drawn};
use crate::egraph::{Same, is_opaque};
use crate::graph::scopes::captures_of_node;
use crate::graph::uses::Uses;
use crate::graph::{AttrValue, Initial, Model, NodeId, TensorId, ValueId, order};
use crate::infer;
use crate::rules::rule::Rule;

/// What is known of the values of two models that stand beside one another.
pub struct Proof {
    /// A number for each value, the same where the values are.
    pub classes: FxHashMap<ValueId, usize>,
    /// Operators that draw random numbers, or of which nothing is known: taken to do the same in both models.
    pub assumed: BTreeSet<String>,
}

impl Proof {
    pub fn is_same(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.classes.get(&a).is_some_and(|a| self.classes.get(&b) == Some(a))
    }
}

/// Lets rules say what is the same. `None` where nothing can be said: the graphs have a cycle, or a model says of a
/// value what is not so.
pub fn prove(both: &Beside, rules: &[&Rule]) -> Option<Proof> {
    let model = &both.model;
    let facts = infer::infer(model, infer::Options { use_declared: false });
    let uses = Uses::new(model);
    let mut same = Same::new(model, model.main, &facts, &uses).ok()?;
    unite_constants(model, &mut same);
    let opaque = by_depth(model);
    let mut pairing = Pairing { both, paired: BTreeSet::new(), assumed: BTreeSet::new() };
    loop {
        let is_new = pairing.pair(&opaque, &mut same);
        if !rules.is_empty() {
            same.saturate(rules);
        }
        if !is_new {
            break;
        }
    }
    same.conflicts().is_empty().then(|| Proof { classes: same.classes(), assumed: pairing.assumed })
}

/// Large constants are the same where their tensors are; small ones are known by their elements anyway.
fn unite_constants(model: &Model, same: &mut Same) {
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

/// The nodes that the e-graph does not look into, by how many such nodes are before them at most.
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

/// Finds nodes of both models that do the same, and that the e-graph keeps apart.
struct Pairing<'b> {
    both: &'b Beside,
    paired: BTreeSet<NodeId>,
    assumed: BTreeSet<String>,
}

impl Pairing<'_> {
    /// Pairs what can be paired by what is known now; whether there was anything.
    fn pair(&mut self, levels: &[Vec<NodeId>], same: &mut Same) -> bool {
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

    fn pair_level(&mut self, open: &[NodeId], same: &mut Same) -> bool {
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
            // What draws random numbers, or may, is another each time: one of each model makes a pair.
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
