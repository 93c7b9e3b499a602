//! EXP007: a Python loop over an axis became as many copies of its body as the traced input was long.
//!
//! Such a loop takes slice after slice of one value: *taps*. Every node belongs to the last tap that it
//! depends on, its step; in a loop, the steps between the first and the last consist of the same nodes.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Detector;
use super::dynamic_dims::DynamicDims;
use crate::diag::rule_ids::UNROLLED_LOOP;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::Dim;
use crate::graph::{ElemType, Id, Node, NodeId, ValueId};
use crate::infer::Fact;
use crate::lint::LintContext;
use crate::lint::exporter;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[UNROLLED_LOOP], run };

/// Fewer steps are more likely written by hand: two halves, query and key.
const MIN_STEPS: usize = 3;
/// With fewer there is no pair of steps between the first and the last: three coordinates, gates, or query, key and
/// value look so too, but along an axis of as many elements, not of a free size.
const MIN_COMPARED: usize = 4;
/// Nodes that a step has to have, constants not counted.
const MIN_BODY: usize = 3;
/// The same of windows.
const MIN_WINDOW_BODY: usize = 2;
/// Operators by which steps are put together that do not need one another.
const ACCUMULATING: [&str; 6] = ["Add", "Concat", "Max", "Min", "Mul", "Sum"];
/// Nodes that prepare a slice for the loop that it is taken for.
const MAX_PREPARING: usize = 3;
/// Series of taps that are looked at, as each costs a walk along the graph.
const MAX_SERIES: usize = 64;

/// A slice of a value, at a constant place of one axis.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tap {
    start: i64,
    node: NodeId,
    output: ValueId,
}

/// What the taps of one loop share: the value, the axis, and how much each takes.
type Series = (ValueId, i64, i64);

/// A loop that was found.
struct Unrolled {
    series: Series,
    first: NodeId,
    steps: usize,
    /// Nodes of one step.
    body: usize,
    /// Each step takes something from the one before.
    recurrent: bool,
}

fn unrolled(cx: &LintContext, found: &Unrolled, is_static: bool) -> Finding {
    let (value, axis, _) = found.series;
    let message = format!(
        "{} copies of the same {} nodes follow one another, one for each step along axis {axis} of `{}`",
        found.steps,
        found.body,
        cx.name(value)
    );
    let free = free_length(cx, found.series);
    // Where the interface says which sizes vary, and this one does not, the copies are right for every input. Where
    // none varies, the interface may just be that of the trace.
    let is_meant = free.is_none() && !(is_static && (found.recurrent || axis == 0));
    let rule = if is_meant { UNROLLED_LOOP.at(Level::Info) } else { UNROLLED_LOOP };
    let finding = cx.at_node(rule, found.first, Part::Whole, message).label("the first step");
    let finding = match free {
        Some(size) => finding.note(format!(
            "the axis is as long as {size}, but the graph takes {} steps: more are ignored, and fewer fail",
            found.steps
        )),
        None => {
            finding.note("a loop in Python is traced as often as it runs: the length is fixed with the graph")
        }
    };
    finding.help(if found.recurrent {
        "use the layer for it (nn.GRU, nn.LSTM), or torch's `scan`, so that the graph has one step"
    } else {
        "the steps do not need one another: compute them at once, on the whole axis"
    })
}

/// The length of the axis that a series goes along, where it varies.
fn free_length(cx: &LintContext, (value, axis, _): Series) -> Option<Dim> {
    let size = cx.facts[value].dims()?.get(usize::try_from(axis).ok()?)?.clone()?;
    size.as_const().is_none().then_some(size)
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let is_static = DynamicDims::new(cx.model, cx.facts).is_empty();
    // A program that goes along an axis step by step fixes its size: along one that is free, its author wrote the places.
    let is_guarded = exporter::guarded_sizes(cx.model);
    let mut series: BTreeMap<(NodeId, Series), Vec<Tap>> = BTreeMap::new();
    let mut first_of: FxHashMap<Series, NodeId> = FxHashMap::default();
    for (id, node) in cx.nodes() {
        for (key, tap) in taps(cx, id, node) {
            let first = *first_of.entry(key).or_insert(id);
            series.entry((first, key)).or_default().push(tap);
        }
    }
    let mut is_in_loop = vec![false; cx.model.nodes.len()];
    let long = series.into_iter().filter(|(_, taps)| taps.len() >= MIN_STEPS);
    for ((_, key), taps) in long.take(MAX_SERIES) {
        // A loop over several values has a series of taps for each of them; it is said of the first.
        let known = |tap: &Tap| is_in_loop[tap.node.index()] || leads_into(cx, tap.output, &is_in_loop);
        if !(taps.iter().all(known) || is_guarded && free_length(cx, key).is_some()) {
            sink.extend(find(cx, key, taps, &mut is_in_loop).map(|found| unrolled(cx, &found, is_static)));
        }
    }
}

/// Whether a value is used in a loop, be it squeezed or reshaped before.
fn leads_into(cx: &LintContext, mut value: ValueId, is_in_loop: &[bool]) -> bool {
    for _ in 0..MAX_PREPARING {
        let users = cx.uses.of(value);
        if users.iter().any(|one| is_in_loop[one.node.index()]) {
            return true;
        }
        let [only] = users else { return false };
        let Some(output) = cx.model.nodes[only.node].output(0) else { return false };
        value = output;
    }
    false
}

/// The slices that a node takes, each at a constant place.
fn taps(cx: &LintContext, id: NodeId, node: &Node) -> Vec<(Series, Tap)> {
    let ints = |input: usize| -> Option<Vec<i64>> {
        let ints = cx.input(node, input).and_then(Fact::as_ints)?;
        ints.iter().map(|int| int.as_ref().and_then(Dim::as_const)).collect()
    };
    let (Some(data), true) = (node.input(0), node.domain().is_empty()) else { return Vec::new() };
    // The sizes of a tensor, and tables of the model, are as many in every run.
    if cx.facts[data].as_ints().is_some() || cx.facts[data].is_const() {
        return Vec::new();
    }
    let rank = cx.facts[data].rank().and_then(|rank| i64::try_from(rank).ok());
    let from_start = |axis: i64| if axis < 0 { rank.map(|rank| axis + rank) } else { Some(axis) };
    let axis_attr = || from_start(node.attr("axis").and_then(|axis| axis.as_int()).unwrap_or(0));
    let tap = |start: i64, output: usize| Some(Tap { start, node: id, output: node.output(output)? });
    let one = || -> Option<(Series, Tap)> {
        Some(match &*node.op_type {
            "Gather" => match ints(1)?[..] {
                [index] if index >= 0 => ((data, axis_attr()?, 1), tap(index, 0)?),
                _ => return None,
            },
            "Slice" => match (&ints(1)?[..], &ints(2)?[..], &ints(3)?[..]) {
                ([start], [end], [axis]) if *start >= 0 && end > start && *end < i64::MAX => {
                    ((data, from_start(*axis)?, end - start), tap(*start, 0)?)
                }
                _ => return None,
            },
            _ => return None,
        })
    };
    if &*node.op_type != "Split" {
        return one().into_iter().collect();
    }
    let Some(axis) = axis_attr() else { return Vec::new() };
    let outputs = (0..node.outputs.len()).filter_map(|output| tap(output as i64, output));
    outputs.map(|tap| ((data, axis, 0), tap)).collect()
}

/// The loop that taps belong to, if they do; its nodes are marked.
fn find(cx: &LintContext, series: Series, mut taps: Vec<Tap>, is_in_loop: &mut [bool]) -> Option<Unrolled> {
    taps.sort_by_key(|tap| tap.start);
    taps.dedup_by_key(|tap| tap.start);
    let stride = taps.get(1)?.start - taps[0].start;
    if taps.len() < MIN_STEPS || taps.windows(2).any(|pair| pair[1].start - pair[0].start != stride) {
        return None;
    }
    let steps = taps.len();
    if steps < MIN_COMPARED && free_length(cx, series).is_none() {
        return None;
    }
    let walk = Walk::along(cx, &taps);
    // The first step may lack what comes from a step before, and what follows the loop hangs on the last.
    let middle = walk.signatures(cx, steps);
    let (first, rest) = middle.get(1..steps - 1)?.split_first()?;
    // Four windows of a free axis are a loop, however little is done with each.
    let is_of_windows = steps >= MIN_COMPARED && series.2 > 1 && free_length(cx, series).is_some();
    let least = if is_of_windows { MIN_WINDOW_BODY } else { MIN_BODY };
    if first.ops.len() < least || rest.iter().any(|step| step != first) {
        return None;
    }
    let is_like = |step: &Signature| 2 * first.in_common(step) >= first.ops.len().max(2 * MIN_BODY);
    if steps < MIN_COMPARED && !middle.iter().all(is_like) {
        return None;
    }
    walk.step_of.keys().for_each(|node| is_in_loop[node.index()] = true);
    Some(Unrolled { series, first: taps[0].node, steps, body: first.ops.len(), recurrent: walk.recurrent })
}

/// The nodes of a step, as far as two steps can be compared.
#[derive(Clone, Default, PartialEq, Eq)]
struct Signature {
    /// A hash of each node, in order of the hashes.
    ops: Vec<u64>,
}

impl Signature {
    /// How many nodes of one step are in another too. The first step may lack what comes from a step before, the last
    /// what the next would take; and what follows a loop hangs on its last step.
    fn in_common(&self, other: &Signature) -> usize {
        let mut others = other.ops.iter().peekable();
        let is_there = |op: &&u64| {
            while others.next_if(|other| *other < *op).is_some() {}
            others.next_if(|other| *other == *op).is_some()
        };
        self.ops.iter().filter(is_there).count()
    }
}

/// The nodes that depend on taps.
struct Walk {
    /// The last tap that a node depends on.
    step_of: BTreeMap<NodeId, usize>,
    /// Whether a step takes more from the one before than a sum to which it adds.
    recurrent: bool,
}

impl Walk {
    fn along(cx: &LintContext, taps: &[Tap]) -> Walk {
        let mut step_of: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut value_step: FxHashMap<ValueId, usize> = FxHashMap::default();
        for (step, tap) in taps.iter().enumerate() {
            value_step.insert(tap.output, step);
        }
        let graph = cx.model.nodes[taps[0].node].graph;
        let mut recurrent = false;
        let mut sums: FxHashSet<NodeId> = FxHashSet::default();
        for &id in &cx.model.graphs[graph].nodes {
            let node = &cx.model.nodes[id];
            let steps = || node.inputs.iter().flatten().filter_map(|value| value_step.get(value).copied());
            let Some(last) = steps().max() else { continue };
            if steps().any(|step| step + 1 == last) {
                let before = node
                    .inputs
                    .iter()
                    .flatten()
                    .filter(|value| value_step.get(value).is_some_and(|step| step + 1 == last));
                let is_sum = |value: &ValueId| {
                    last == 1 || cx.model.producer(*value).is_some_and(|(maker, _)| sums.contains(&maker))
                };
                if ACCUMULATING.contains(&&*node.op_type) && before.into_iter().all(is_sum) {
                    sums.insert(id);
                } else {
                    // What follows the loop hangs on its last step.
                    recurrent |= last > 1 && last + 1 < taps.len();
                }
            }
            step_of.insert(id, last);
            for &output in node.outputs.iter().flatten() {
                value_step.entry(output).or_insert(last);
            }
        }
        Walk { step_of, recurrent }
    }

    fn signatures(&self, cx: &LintContext, steps: usize) -> Vec<Signature> {
        let mut found = vec![Signature::default(); steps];
        for (&id, &step) in &self.step_of {
            let node = &cx.model.nodes[id];
            if node.outputs.iter().flatten().any(|&value| cx.facts[value].is_const()) {
                continue;
            }
            found[step].ops.push(hash(cx, node));
        }
        found.iter_mut().for_each(|step| step.ops.sort_unstable());
        found
    }
}

/// Operator, number of operands, weights, and attributes that are numbers: what the copies of a node share. Steps
/// with weights of their own are as many as the model has layers.
fn hash(cx: &LintContext, node: &Node) -> u64 {
    let mut hasher = FxHasher::default();
    let is_weight = |value: &&ValueId| {
        cx.model.values[**value].initial.is_some() && cx.facts[**value].rank().is_some_and(|rank| rank > 0)
    };
    node.inputs.iter().flatten().filter(is_weight).filter(|value| !is_index(cx, **value)).for_each(
        |weight| {
            weight.index().hash(&mut hasher);
        },
    );
    (node.domain(), &node.op_type, node.inputs.len(), node.outputs.len()).hash(&mut hasher);
    for attr in &node.attrs {
        (&attr.name, attr.value.as_int(), attr.value.as_ints()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Places and shapes, which differ from step to step.
fn is_index(cx: &LintContext, value: ValueId) -> bool {
    cx.facts[value].elem() == Some(ElemType::Int64)
}
