//! EXP007: Python loops over an axis that tracing unrolled.
//!
//! An unrolled loop slices one value at regular positions; each slice is a *tap* and starts a step. A node belongs to
//! the step of the last tap that the node depends on. In a loop, all steps except the first and the last consist of
//! equal nodes.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Detector;
use super::dynamic_dims::DynamicDims;
use crate::analyses::LintContext;
use crate::analyses::exporter;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::UNROLLED_LOOP;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::Dim;
use crate::graph::{ElemType, Id, Node, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of EXP007.
pub const DETECTOR: Detector = Detector { rules: &[UNROLLED_LOOP], run };

/// Minimum number of steps of a loop along a dynamic axis.
///
/// Fewer steps are more likely written by hand, such as two halves, or query and key.
const MIN_STEPS: usize = 3;
/// Minimum number of steps along a static axis, so that at least two middle steps can be compared.
///
/// Three slices of a static axis rarely come from a loop: they are coordinates, gates, or query, key and value.
const MIN_COMPARED: usize = 4;
/// Minimum number of nodes in a step, not counting constants.
const MIN_BODY: usize = 3;
/// Minimum number of nodes, not counting constants, in a step that uses a window of an axis.
const MIN_WINDOW_BODY: usize = 2;
/// Operators that combine the results of independent steps.
const ACCUMULATING: [&str; 6] = ["Add", "Concat", "Max", "Min", "Mul", "Sum"];
/// Maximum number of values to search from a slice to the loop that uses it, the slice included.
const MAX_PREPARING: usize = 3;
/// Maximum number of series to check, because each costs a walk over the graph.
const MAX_SERIES: usize = 64;

/// Slice of a value at a constant position of one axis.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tap {
    start: i64,
    node: NodeId,
    output: ValueId,
}

/// Sliced value, axis, and length of each slice (0 for Split).
type Series = (ValueId, i64, i64);

/// Loop that the export unrolled into `steps` copies of its nodes.
struct Unrolled {
    series: Series,
    first: NodeId,
    steps: usize,
    /// Number of nodes in one copy.
    body: usize,
    /// Whether a step uses the previous one for more than the accumulation of results.
    recurrent: bool,
}

fn unrolled(cx: &LintContext, found: &Unrolled, is_static: bool) -> Finding {
    let (value, axis, _) = found.series;
    let message = format!(
        "a loop along axis {axis} of `{}` is unrolled: {} copies of {} nodes",
        cx.name(value),
        found.steps,
        found.body
    );
    let free = free_length(cx, found.series);
    // If other dimensions are dynamic, but this one is static, the copies are valid for every input. If all dimensions
    // are static, their sizes may be those of the example input only: without `dynamic_shapes`, `torch.export` makes
    // every size static, too.
    let is_meant = free.is_none() && !(is_static && (found.recurrent || axis == 0));
    let rule = if is_meant { UNROLLED_LOOP.at(Level::Info) } else { UNROLLED_LOOP };
    let finding = cx.at_node(rule, found.first, Part::Whole, message).label("the first step");
    let finding = match free {
        Some(size) => finding.note(format!(
            "the axis has the dynamic size {size}, but the graph has {} steps: at another size, it ignores elements or fails",
            found.steps
        )),
        None => {
            finding.note("tracing records every iteration of a Python loop, so the graph fixes their number")
        }
    };
    finding.help(if found.recurrent {
        "use a recurrent layer (nn.GRU, nn.LSTM) or torch's `scan`, so that the graph has a single step"
    } else {
        "compute all steps at once on the whole axis: they are independent"
    })
}

/// Returns the size of the axis of a series, if it is dynamic.
fn free_length(cx: &LintContext, (value, axis, _): Series) -> Option<Dim> {
    let size = cx.facts[value].dims()?.get(usize::try_from(axis).ok()?)?.clone()?;
    size.as_const().is_none().then_some(size)
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let is_static = DynamicDims::new(cx.model, cx.facts).is_empty();
    // `torch.export` makes the axis of a loop static, so slices of a dynamic axis are not from a loop.
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
        // A loop over several values has one series for each of them, and is reported for the first.
        let known = |tap: &Tap| is_in_loop[tap.node.index()] || leads_into(cx, tap.output, &is_in_loop);
        if !(taps.iter().all(known) || is_guarded && free_length(cx, key).is_some()) {
            sink.extend(find(cx, key, taps, &mut is_in_loop).map(|found| unrolled(cx, &found, is_static)));
        }
    }
}

/// Whether a loop uses a value, directly or after nodes such as Squeeze and Reshape.
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

/// Returns the slices (taps) that a node takes at constant positions, each with its series.
fn taps(cx: &LintContext, id: NodeId, node: &Node) -> Vec<(Series, Tap)> {
    let ints = |input: usize| -> Option<Vec<i64>> {
        let ints = cx.input(node, input).and_then(Fact::as_ints)?;
        ints.iter().map(|int| int.as_ref().and_then(Dim::as_const)).collect()
    };
    let (Some(data), true) = (node.input(0), node.domain().is_empty()) else { return Vec::new() };
    // Shapes and constant tables have the same length in every run.
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

/// Returns the unrolled loop whose steps begin with these taps, if there is one; marks its nodes.
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
    // The first step can lack nodes that use a previous step, and the last one includes nodes after the loop.
    let middle = walk.signatures(cx, steps);
    let (first, rest) = middle.get(1..steps - 1)?.split_first()?;
    // Four or more windows of a dynamic axis form a loop, even with small steps.
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

/// Nodes of a step, for comparison with other steps.
#[derive(Clone, Default, PartialEq, Eq)]
struct Signature {
    /// Sorted hashes of the nodes.
    ops: Vec<u64>,
}

impl Signature {
    /// Returns the number of nodes that this step and another one have in common.
    ///
    /// The first step can lack nodes that use a previous step. The last step can lack nodes that prepare a next step,
    /// and includes nodes after the loop.
    fn in_common(&self, other: &Signature) -> usize {
        let mut others = other.ops.iter().peekable();
        let is_there = |op: &&u64| {
            while others.next_if(|other| *other < *op).is_some() {}
            others.next_if(|other| *other == *op).is_some()
        };
        self.ops.iter().filter(is_there).count()
    }
}

/// Nodes that depend on the slices of a series, with their steps.
struct Walk {
    /// Step of each node: the index of the last slice that the node depends on.
    step_of: BTreeMap<NodeId, usize>,
    /// Whether a step uses the previous one for more than the accumulation of results.
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
                    // The last step includes nodes after the loop.
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

/// Returns a hash of the properties that copies of a node share.
///
/// The properties are the operator, the numbers of inputs and outputs, weights, and integer attributes. Weights are
/// included, because steps with different weights are layers, not iterations.
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

/// Whether a constant is int64, like indices and shapes, which can differ between steps.
fn is_index(cx: &LintContext, value: ValueId) -> bool {
    cx.facts[value].elem() == Some(ElemType::Int64)
}
