//! Into how many pieces a graph falls at a target that does not take all of it, and what crosses between them.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::dim::Dim;
use crate::graph::{Model, NodeId, ValueId, order, scopes};
use crate::infer::{Fact, Facts};
use crate::lint::LintContext;
use crate::targets::Judged;

/// How the main graph is shared between a target and what runs the rest. What is not known counts as taken.
pub struct Pieces {
    /// How often the target has to be called: nodes that it takes one after the other, or independently of each other,
    /// are one piece.
    pub count: usize,
    /// What is handed over between the pieces and the rest; `None` where nothing is.
    pub crossing: Option<Crossing>,
}

/// Values that one side makes and the other reads.
pub struct Crossing {
    /// How many.
    values: usize,
    /// Their bytes, symbolic where sizes are free, of those whose size is known.
    bytes: Option<Dim>,
    /// How many have a size of which nothing is known.
    unknown: usize,
}

impl fmt::Display for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.values == 1 { "value crosses" } else { "values cross" };
        write!(f, "{} {plural} between the target and what runs the rest", self.values)?;
        if let Some(bytes) = &self.bytes {
            write!(f, ": {bytes} bytes")?;
        }
        match self.unknown {
            0 => Ok(()),
            unknown => write!(f, ", and {unknown} of unknown size"),
        }
    }
}

impl Pieces {
    pub fn new(cx: &LintContext, judged: &Judged) -> Self {
        let model = cx.model;
        let outside = outside(model, judged);
        let mut turns: FxHashMap<NodeId, usize> = FxHashMap::default();
        let mut counted = FxHashSet::default();
        let mut crossing: Vec<ValueId> = Vec::new();
        for id in order::sorted_or_file(model, model.main) {
            if model.nodes[id].is("Constant") {
                continue;
            }
            let is_outside = outside.contains(&id);
            // Even turns are the target's.
            let mut turn = usize::from(is_outside);
            for value in reads(model, id) {
                let Some((producer, _)) = model.producer(value) else { continue };
                let Some(&before) = turns.get(&producer) else { continue };
                let crosses = outside.contains(&producer) != is_outside;
                turn = turn.max(before + usize::from(crosses));
                if crosses {
                    crossing.push(value);
                }
            }
            turns.insert(id, turn);
            if !is_outside {
                counted.insert(turn);
            }
        }
        crossing.sort_unstable();
        crossing.dedup();
        Pieces { count: counted.len(), crossing: Crossing::of(cx.facts, &crossing) }
    }
}

/// The nodes of the main graph that run elsewhere: those that are refused, and those that hold or call one that is.
fn outside(model: &Model, judged: &Judged) -> FxHashSet<NodeId> {
    let mut outside: FxHashSet<NodeId> = FxHashSet::default();
    let mut functions = FxHashSet::default();
    for &(node, _) in &judged.refused {
        let graph = model.nodes[node].graph;
        outside.insert(node);
        outside.extend(model.holders(graph));
        functions.extend(model.function_of(graph));
    }
    if !functions.is_empty() {
        let nodes = model.graphs[model.main].nodes.iter();
        outside
            .extend(nodes.filter(|&&id| model.callee(id).is_some_and(|callee| functions.contains(&callee))));
    }
    outside
}

/// What a node reads, and what the bodies in it read of the graph.
fn reads(model: &Model, id: NodeId) -> Vec<ValueId> {
    let mut values: Vec<ValueId> = model.nodes[id].inputs.iter().flatten().copied().collect();
    if model.nodes[id].graphs().next().is_some() {
        values.extend(scopes::captures_of_node(model, id));
    }
    values
}

impl Crossing {
    fn of(facts: &Facts, values: &[ValueId]) -> Option<Crossing> {
        let sizes: Vec<Option<Dim>> = values.iter().map(|&value| bytes(&facts[value])).collect();
        let unknown = sizes.iter().filter(|size| size.is_none()).count();
        let mut known = sizes.iter().flatten();
        let total = known.try_fold(Dim::known(0), |sum, size| sum.add(size));
        let bytes = total.filter(|_| unknown < values.len());
        (!values.is_empty()).then_some(Crossing { values: values.len(), bytes, unknown })
    }
}

/// The bytes of a tensor, rounded up; symbolic where sizes are free.
fn bytes(fact: &Fact) -> Option<Dim> {
    let bits = i64::try_from(fact.elem()?.bits()?).ok()?;
    let numel = fact.shape()?.numel()?;
    match bits % 8 {
        0 => numel.mul(bits / 8),
        _ => numel.as_const()?.checked_mul(bits).map(|bits| Dim::known((bits + 7) / 8)),
    }
}
