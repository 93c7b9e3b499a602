//! EXP007: a Python loop over an axis was traced step by step.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::diag::{Finding, Level};
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::rule::Rule;
use crate::torch::trace::{Node, NodeId, Trace, User, ValueId};

const RULE: Rule = Rule::new("EXP007", "unrolled-loop", Level::Warning);

/// Fewer steps than this are not taken for a loop.
const MIN_STEPS: usize = 3;

/// How far the computation on each step is compared with that on the next.
const MAX_BODY: usize = 12;

/// No more nodes of one step than this are asked for their module.
const MAX_STEP_NODES: usize = 512;

/// One index of an axis, taken by itself.
struct Element {
    index: i64,
    /// The node that takes it.
    taken_by: NodeId,
    value: ValueId,
}

/// The axis that a loop runs over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Axis {
    base: ValueId,
    axis: i64,
}

struct Loop {
    over: Axis,
    steps: usize,
    /// The nodes that take the first and the last element.
    first: NodeId,
    last: NodeId,
}

/// `for t in range(x.shape[1]): h = cell(x[:, t], h)` is recorded as one step for each index of the axis
/// during the trace. It shows as the elements of a whole axis, each treated in the same way.
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

/// Several tensors may be walked in one loop, and one line of Python may loop in many layers.
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
        let mut finding = context
            .finding(&RULE, first.first, format!("a loop over axis {axis} of {base} was unrolled into {steps} steps"))
            .label("the first step")
            .note(format!("the model computes {steps} steps whatever the length of that axis: longer input is cut off, shorter fails"))
            .help(
                "use an operator that works on the whole axis (`nn.GRU` for `nn.GRUCell`, `cumsum`, a matrix product); \
                 if the length may vary and there is none, a `torch.jit.script` function keeps the loop with the tracing \
                 exporter, and `torch._higher_order_ops.scan` with `dynamo=True`",
            );
        for other in loops.iter().skip(1) {
            let message = format!(
                "the same steps over axis {} of {}",
                other.over.axis,
                context.describe(other.over.base)
            );
            finding = finding.related(context.place(other.first), message);
        }
        out.push(finding);
    }
}

/// Whether two loops have the same number of steps, and their first elements are taken on one line or
/// their steps alternate.
fn is_same_loop(trace: &Trace, a: &Loop, b: &Loop) -> bool {
    let line =
        |one: &Loop| trace.node(one.first).source.as_ref().map(|source| (source.file.clone(), source.line));
    let on_one_line = line(a).is_some() && line(a) == line(b);
    a.steps == b.steps && (on_one_line || (a.first <= b.last && b.first <= a.last))
}

/// The elements that a node takes from an axis: one for `select`, all for `unbind`.
fn elements_taken(trace: &Trace, id: NodeId, node: &Node) -> Vec<(Axis, Element)> {
    let one = |base, axis, index| match node.outputs.first() {
        Some(&value) => {
            vec![(Axis { base: whole_of(trace, base), axis }, Element { index, taken_by: id, value })]
        }
        None => Vec::new(),
    };
    let Some(base) = trace.receiver(node) else { return Vec::new() };
    let int = |position, name| trace.argument(node, position, name).and_then(|argument| trace.int(argument));
    match (&*node.op.namespace, &*node.op.name) {
        ("aten", "select") => match (int(1, "dim"), int(2, "index")) {
            (Some(axis), Some(index)) => one(base, axis, index),
            _ => Vec::new(),
        },
        ("aten", "slice") => match (int(1, "dim"), int(2, "start"), int(3, "end")) {
            (Some(axis), Some(start), Some(end)) if start.checked_add(1) == Some(end) => {
                one(base, axis, start)
            }
            _ => Vec::new(),
        },
        ("onnx", "Gather") => {
            match (node.attributes.iter().find(|(name, _)| &**name == "axis"), scalar_index(trace, node)) {
                (Some((_, Argument::Int(axis))), Some(index)) => one(base, *axis, index),
                _ => Vec::new(),
            }
        }
        ("prim", "ListUnpack") => unbound(trace, id, node, base),
        _ => Vec::new(),
    }
}

fn scalar_index(trace: &Trace, gather: &Node) -> Option<i64> {
    let index = &gather.inputs.get(1)?.argument;
    let rank = trace.value(trace.as_value(index)?).ty.tensor()?.rank()?;
    trace.int(index).filter(|_| rank == 0)
}

/// The outputs of a `prim::ListUnpack` of an `aten::unbind`.
fn unbound(trace: &Trace, id: NodeId, unpack: &Node, list: ValueId) -> Vec<(Axis, Element)> {
    let Some(unbind) =
        trace.producer(list).map(|id| trace.node(id)).filter(|node| node.op.is("aten", "unbind"))
    else {
        return Vec::new();
    };
    let Some(base) = trace.receiver(unbind) else { return Vec::new() };
    let axis = trace.argument(unbind, 1, "dim").and_then(|argument| trace.int(argument)).unwrap_or(0);
    let axis = Axis { base: whole_of(trace, base), axis };
    let outputs = unpack.outputs.iter().zip(0..);
    outputs.map(|(&value, index)| (axis, Element { index, taken_by: id, value })).collect()
}

/// The tensor behind slices that take everything: `x[:, t]` slices axis 0 anew for every `t`.
fn whole_of(trace: &Trace, mut value: ValueId) -> ValueId {
    while let Some(node) = trace.producer(value).map(|id| trace.node(id)) {
        let int = |position, name, default| match trace.argument(node, position, name).map(|it| trace.see(it))
        {
            None | Some(Argument::None) => Some(default),
            Some(argument) => trace.int(argument),
        };
        let takes_all = node.op.is("aten", "slice")
            && int(2, "start", 0) == Some(0)
            && int(3, "end", i64::MAX) == Some(i64::MAX)
            && int(4, "step", 1) == Some(1);
        match trace.receiver(node) {
            Some(base) if takes_all => value = base,
            _ => break,
        }
    }
    value
}

/// A loop, if the elements are those of a whole axis (all but its first, if that is treated apart),
/// and what is computed with each is what is computed with the next.
fn as_loop(trace: &Trace, over: Axis, mut elements: Vec<Element>) -> Option<Loop> {
    let (first, last) = (elements.first()?.taken_by, elements.last()?.taken_by);
    elements.sort_by_key(|element| (element.index, element.taken_by));
    elements.dedup_by_key(|element| element.index);
    let start = elements.first()?.index;
    let steps = elements.len();
    let consecutive = elements.iter().zip(start..).all(|(element, index)| element.index == index);
    let end = elements.last()?.index.checked_add(1)?;
    let whole = (0..=1).contains(&start) && axis_length(trace, over) == Some(end);
    let bodies: Vec<_> = elements.iter().map(|element| body(trace, element.value)).collect();
    // A first step that starts the loop may differ; with few steps that would leave too little evidence.
    let may_differ = usize::from(steps > MIN_STEPS + 1);
    let alike = bodies.windows(2).skip(may_differ).all(|pair| is_alike(&pair[0], &pair[1]));
    let is_loop = steps >= MIN_STEPS && consecutive && whole && alike && has_one_body(trace, &elements);
    is_loop.then_some(Loop { over, steps, first, last })
}

/// Whether the steps run the same modules. A loop over an axis and a `ModuleList` side by side has other
/// weights in every step: the length of its axis is fixed by the model, and no operator could replace it.
fn has_one_body(trace: &Trace, elements: &[Element]) -> bool {
    let modules = |pair: &[Element]| -> BTreeSet<&str> {
        let (from, to) = (pair[0].taken_by.index(), pair[1].taken_by.index());
        let nodes = trace.nodes.get(from..to).unwrap_or_default();
        nodes.iter().take(MAX_STEP_NODES).map(|node| &*node.scope).collect()
    };
    let modules: Vec<_> = elements.windows(2).map(modules).collect();
    // What comes before the loop's first element is taken may lie among the nodes of its first step.
    modules.windows(2).skip(1).all(|pair| pair[0] == pair[1])
}

fn axis_length(trace: &Trace, over: Axis) -> Option<i64> {
    let shape = trace.value(over.base).ty.shape()?;
    let axis = if over.axis < 0 { over.axis + i64::try_from(shape.len()).ok()? } else { over.axis };
    shape.get(usize::try_from(axis).ok()?)?.traced()
}

/// What is done with a value, node after node, up to where several nodes use it.
type Body = Vec<Vec<String>>;

fn body(trace: &Trace, mut value: ValueId) -> Body {
    let mut body = Body::new();
    while body.len() < MAX_BODY {
        let users = &trace.value(value).users;
        let mut step: Vec<String> =
            users.iter().filter_map(|user| describe_use(trace, value, user)).collect();
        step.sort();
        body.push(step);
        let [User::Node(only)] = users[..] else { break };
        let [next] = trace.node(only).outputs[..] else { break };
        value = next;
    }
    body
}

/// The operator, the positions it takes the value at, its literal arguments, its module and line: equal
/// for the same Python at the next step, different for other weights or other constants.
fn describe_use(trace: &Trace, value: ValueId, user: &User) -> Option<String> {
    let User::Node(id) = user else { return None };
    let node = trace.node(*id);
    let line = node.source.as_ref().map_or(0, |source| source.line);
    let mut text = format!("{} {} {line}", node.op, node.scope);
    if matches!(&*node.op.name, "ListConstruct" | "TupleConstruct" | "Concat" | "cat" | "stack") {
        return Some(text);
    }
    for input in &node.inputs {
        let operand = match (&input.argument, trace.see(&input.argument)) {
            (Argument::Value(it), _) if *it == value => " self".to_owned(),
            (_, Argument::Value(_)) => " _".to_owned(),
            (_, literal) => format!(" {literal:?}"),
        };
        text.push_str(&operand);
    }
    Some(text)
}

/// Whether one body is the other, up to where the shorter ends: the last steps have less behind them.
fn is_alike(a: &Body, b: &Body) -> bool {
    let without_end = |body: &Body| body.len().saturating_sub(1).max(1);
    let compared = without_end(a).min(without_end(b));
    let computes = |step: &[String]| step.iter().any(|use_| !use_.contains("Construct"));
    computes(&a[0]) && a.iter().zip(b).take(compared).all(|(a, b)| a == b)
}
