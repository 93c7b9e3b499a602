//! EXP007: a Python loop over an axis that was traced step by step.

mod axis;
mod body;

use std::collections::BTreeSet;

use indexmap::IndexMap;

use self::axis::{Axis, Element, elements_taken};
use self::body::{body, is_alike};
use crate::diag::rule_ids::UNROLLED_LOOP;
use crate::diag::{Finding, Level, SourcePlace};
use crate::torch::context::Context;
use crate::torch::trace::{NodeId, Origin, Trace, User, ValueId};
use crate::torch::types::Size;

/// Minimum number of steps of a loop.
const MIN_STEPS: usize = 3;

/// Maximum number of nodes of one step that are examined.
const MAX_STEP_NODES: usize = 512;

/// Number of lines above the body of a loop in which to search for its head.
const MAX_LINES: usize = 50;

/// A loop that was unrolled over the elements of an axis.
struct Loop {
    over: Axis,
    steps: usize,
    /// The nodes that take the first and the last element.
    first: NodeId,
    last: NodeId,
    /// A node that computes with the first element.
    used_by: Option<NodeId>,
    /// Whether a step depends on the previous one by more than a running sum, maximum or minimum.
    recurrent: bool,
}

/// Reports unrolled loops: the elements of a whole axis, each processed in the same way.
///
/// `for t in range(x.shape[1]): h = cell(x[:, t], h)` is recorded as one step for each traced index.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    let mut elements: IndexMap<Axis, Vec<Element>> = IndexMap::new();
    for (id, node) in trace.nodes() {
        for (axis, element) in elements_taken(trace, id, node) {
            if context.varies(axis.base) {
                elements.entry(axis).or_default().push(element);
            }
        }
    }
    let loops = elements.into_iter().filter_map(|(axis, elements)| as_loop(trace, axis, elements));
    report(context, loops, out);
}

/// Reports loops, with one finding for loops that belong together according to [`is_same_loop`].
fn report(context: &Context, loops: impl Iterator<Item = Loop>, out: &mut Vec<Finding>) {
    let mut groups: Vec<Vec<Loop>> = Vec::new();
    for one in loops {
        match groups
            .iter_mut()
            .find(|group| group.iter().any(|other| is_same_loop(context.trace, other, &one)))
        {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    for loops in groups {
        let Some(first) = loops.first() else { continue };
        let (steps, axis, base) = (first.steps, first.over.axis, context.describe(first.over.base));
        let user = first.used_by.and_then(|id| context.user_source(context.trace.node(id)));
        let is_meant =
            loops.iter().all(|one| is_of_fixed_length(context, one) || is_of_parts(context.trace, one));
        let rule = if is_meant { UNROLLED_LOOP.at(Level::Info) } else { UNROLLED_LOOP };
        let mut finding = context
            .finding(
                rule,
                first.first,
                format!("a loop over axis {axis} of {base} was unrolled into {steps} steps"),
            )
            .label("the first step")
            .note(format!(
                "the model always computes {steps} steps: at another length, it ignores elements or fails"
            ))
            .help(
                "use an operator for the whole axis: `nn.GRU` instead of `nn.GRUCell`, `cumsum`, or a matrix \
                 product; if there is none and the length varies, use a `torch.jit.script` function (tracing \
                 exporter) or `torch._higher_order_ops.scan` (`dynamo=True`)",
            );
        // For `for sample in x`, the node that takes the first element is inside PyTorch; the node that uses
        // the element is in the model.
        finding.source = finding.source.or(user);
        for other in loops.iter().skip(1) {
            let message = format!(
                "the loop also runs over axis {} of {}",
                other.over.axis,
                context.describe(other.over.base)
            );
            finding = finding.related(context.place(other.first), message);
        }
        out.push(finding);
    }
}

/// Returns true if the loop length is equal in every run.
///
/// It is if the axis is static in a graph with dynamic dimensions, or if the Python code has a literal count.
fn is_of_fixed_length(context: &Context, found: &Loop) -> bool {
    let Axis { base, axis } = found.over;
    let trace = context.trace;
    let shape = |value| trace.value(value).ty.shape().unwrap_or_default();
    let is_free = |size: &Size| size.fixed().is_none();
    let from_start = if axis < 0 { axis + shape(base).len() as i64 } else { axis };
    let length = usize::try_from(from_start).ok().and_then(|axis| shape(base).get(axis));
    let says_what_varies = trace.inputs().any(|input| shape(input).iter().any(is_free));
    let by_interface = says_what_varies && length.is_some_and(|length| !is_free(length));
    by_interface || context.user_source(trace.node(found.first)).is_some_and(|at| is_counted(context, &at))
}

/// Returns true for independent steps along an axis other than the batch.
///
/// Such loops are assumed to process channels or coordinates, whose number is fixed.
fn is_of_parts(trace: &Trace, found: &Loop) -> bool {
    trace.origin == Origin::TorchScript && found.over.axis > 0 && !found.recurrent
}

/// Returns true if the line is in a loop with a literal count.
fn is_counted(context: &Context, at: &SourcePlace) -> bool {
    let indent = |code: &str| code.len() - code.trim_start().len();
    let Some(code) = context.sources.line(&at.file, at.line) else { return false };
    if counts_a_number(&code) {
        return true;
    }
    let above = (1..at.line).rev().take(MAX_LINES).map_while(|line| context.sources.line(&at.file, line));
    let around = above.filter(|line| !line.trim().is_empty()).find(|line| indent(line) < indent(&code));
    around.is_some_and(|around| counts_a_number(&around))
}

/// Returns true for a loop head such as `for t in range(6)`.
fn counts_a_number(code: &str) -> bool {
    let counted = code.split_once(" in range(").and_then(|(_, rest)| rest.split_once(')'));
    counted.is_some_and(|(count, _)| !count.is_empty() && count.bytes().all(|c| c.is_ascii_digit()))
}

/// Returns true if two loops have equal step counts and belong together.
///
/// Two loops belong together if their first elements are taken on one source line, or if their steps
/// alternate.
fn is_same_loop(trace: &Trace, a: &Loop, b: &Loop) -> bool {
    let line =
        |one: &Loop| trace.node(one.first).source.as_ref().map(|source| (source.file.clone(), source.line));
    let on_one_line = line(a).is_some() && line(a) == line(b);
    a.steps == b.steps && (on_one_line || (a.first <= b.last && b.first <= a.last))
}

/// Returns a loop if the elements cover a whole axis and are processed alike.
///
/// The first element may be missing if it is treated separately.
fn as_loop(trace: &Trace, over: Axis, mut elements: Vec<Element>) -> Option<Loop> {
    let (first, last) = (elements.first()?.taken_by, elements.last()?.taken_by);
    let used_by = trace.value(elements.first()?.value).users.iter().find_map(computing);
    elements.sort_by_key(|element| (element.index, element.taken_by));
    elements.dedup_by_key(|element| element.index);
    let start = elements.first()?.index;
    let steps = elements.len();
    let consecutive = elements.iter().zip(start..).all(|(element, index)| element.index == index);
    let end = elements.last()?.index.checked_add(1)?;
    let whole = (0..=1).contains(&start) && over.length(trace) == Some(end);
    // Sort by execution order, which differs from the order of indices for `reversed(range(…))`.
    elements.sort_by_key(|element| element.taken_by);
    let bodies: Vec<_> = elements.iter().map(|element| body(trace, element.value)).collect();
    // The first step may differ, unless too few steps would remain as evidence.
    let may_differ = usize::from(steps > MIN_STEPS + 1);
    let alike = bodies.windows(2).skip(may_differ).all(|pair| is_alike(&pair[0], &pair[1]));
    // Three elements are coordinates if combined with one another, as in `a * b`, `b * c`, `c * a`.
    let apart = steps > MIN_STEPS || !are_combined(trace, &elements);
    let recurrent = needs_before(trace, elements.get(1)?, elements.get(2)?);
    let is_loop =
        steps >= MIN_STEPS && consecutive && whole && alike && apart && has_one_body(trace, &elements);
    is_loop.then_some(Loop { over, steps, first, last, used_by, recurrent })
}

/// Returns true if a step depends on the previous one by more than a running sum, maximum or minimum.
fn needs_before(trace: &Trace, before: &Element, element: &Element) -> bool {
    let of_before = reached(trace, before.value);
    let is_sum = |id: NodeId| matches!(&*trace.node(id).op.name, "add" | "add_" | "maximum" | "minimum");
    reached(trace, element.value).intersection(&of_before).any(|&id| {
        let read = trace.values_read(trace.node(id)).into_iter();
        let mut makers =
            read.filter_map(|value| trace.producer(value)).filter(|maker| of_before.contains(maker));
        !is_sum(id) || makers.any(|maker| !is_sum(maker))
    })
}

/// Returns the nodes computed from a value, up to concatenations, and about `MAX_STEP_NODES` at most.
fn reached(trace: &Trace, value: ValueId) -> BTreeSet<NodeId> {
    let (mut found, mut todo) = (BTreeSet::new(), vec![value]);
    while let Some(value) = todo.pop().filter(|_| found.len() < MAX_STEP_NODES) {
        for id in trace.value(value).users.iter().filter_map(computing) {
            if !is_container(trace, id) && found.insert(id) {
                todo.extend(trace.node(id).outputs.iter().copied());
            }
        }
    }
    found
}

/// Returns true if a node other than a concatenation uses two elements directly.
fn are_combined(trace: &Trace, elements: &[Element]) -> bool {
    let mut users: BTreeSet<NodeId> = BTreeSet::new();
    elements.iter().any(|element| {
        let of_one: BTreeSet<NodeId> =
            trace.value(element.value).users.iter().filter_map(computing).collect();
        let again = of_one.iter().any(|user| users.contains(user) && !is_container(trace, *user));
        users.extend(of_one);
        again
    })
}

fn computing(user: &User) -> Option<NodeId> {
    match user {
        User::Node(id) => Some(*id),
        User::Output(_) => None,
    }
}

fn is_container(trace: &Trace, id: NodeId) -> bool {
    matches!(&*trace.node(id).op.name, "ListConstruct" | "TupleConstruct" | "Concat" | "cat" | "stack")
}

/// Returns true if all steps run the same modules.
///
/// A loop over an axis and a `ModuleList` has different weights in every step. The length of this loop is the
/// number of modules, and no operator could replace the loop.
fn has_one_body(trace: &Trace, elements: &[Element]) -> bool {
    let modules = |pair: &[Element]| -> BTreeSet<&str> {
        let (from, to) = (pair[0].taken_by.index(), pair[1].taken_by.index());
        let nodes = trace.nodes.get(from..to).unwrap_or_default();
        nodes.iter().take(MAX_STEP_NODES).map(|node| &*node.scope).collect()
    };
    let modules: Vec<_> = elements.windows(2).map(modules).collect();
    // Nodes before the loop may be counted as part of the first step.
    modules.windows(2).skip(1).all(|pair| pair[0] == pair[1])
}
