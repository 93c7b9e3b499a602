//! Partitioning of a graph between a target and a fallback, and the values that cross partitions.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analyses::LintContext;
use crate::graph::dim::Dim;
use crate::graph::{Model, NodeId, ValueId, order, scopes};
use crate::infer::{Fact, Facts};
use crate::targets::Judged;

/// Partitioning of the main graph between a target and its fallback.
///
/// Nodes of unknown support count as supported.
pub struct Pieces {
    /// Number of target partitions.
    ///
    /// Supported nodes share a partition if equally many switches between target and fallback precede them.
    pub count: usize,
    /// Values that cross between the target and its fallback, or `None` if no values cross.
    pub crossing: Option<Crossing>,
}

/// Values that the target produces and the fallback reads, or the other way round.
pub struct Crossing {
    /// Number of values.
    values: usize,
    /// Total bytes of the values with a known size; symbolic if dimensions are dynamic.
    bytes: Option<Dim>,
    /// Number of values with an unknown size.
    unknown: usize,
}

impl fmt::Display for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.values == 1 { "value crosses" } else { "values cross" };
        write!(f, "{} {plural} between the target and the fallback", self.values)?;
        let Some(bytes) = &self.bytes else { return f.write_str(", of unknown size") };
        let unit = if bytes.as_const() == Some(1) { "byte" } else { "bytes" };
        write!(f, ": {bytes} {unit}")?;
        match self.unknown {
            0 => Ok(()),
            unknown => write!(f, ", and {unknown} of unknown size"),
        }
    }
}

impl Pieces {
    /// Partitions the main graph by the unsupported nodes in `judged`.
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
            // A turn is a group of nodes on one device: even turns run on the target, odd turns on the fallback.
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

/// Returns the nodes that run on the fallback.
///
/// Unsupported nodes run on the fallback, and so do nodes that contain or call an unsupported node, directly or not.
fn outside(model: &Model, judged: &Judged) -> FxHashSet<NodeId> {
    let mut callers = callers(model);
    let mut outside: FxHashSet<NodeId> = FxHashSet::default();
    let mut todo: Vec<NodeId> = judged.refused.iter().map(|&(node, _)| node).collect();
    while let Some(node) = todo.pop() {
        let graph = model.nodes[node].graph;
        outside.insert(node);
        outside.extend(model.holders(graph));
        // Callers are removed, so that each function is visited once.
        todo.extend(
            model.function_of(graph).and_then(|function| callers.remove(&function)).unwrap_or_default(),
        );
    }
    outside
}

/// Returns the calls of each local function.
fn callers(model: &Model) -> FxHashMap<usize, Vec<NodeId>> {
    let mut callers: FxHashMap<usize, Vec<NodeId>> = FxHashMap::default();
    for (node, function) in scopes::callees(model) {
        callers.entry(function).or_default().push(node);
    }
    callers
}

/// Returns the inputs of a node, and the outer values that its subgraphs read.
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

/// Returns the bytes of a tensor, rounded up, if known; symbolic if dimensions are dynamic.
fn bytes(fact: &Fact) -> Option<Dim> {
    let bits = i64::try_from(fact.elem()?.bits()?).ok()?;
    let numel = fact.shape()?.numel()?;
    match bits % 8 {
        0 => numel.mul(bits / 8),
        _ => numel.as_const()?.checked_mul(bits).map(|bits| Dim::known((bits + 7) / 8)),
    }
}
