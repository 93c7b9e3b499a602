//! SHP001, SHP004, SPC036: calls that cannot run, at any size.

use super::Detector;
use crate::diag::rule_ids::{BAD_VALUE, BRANCH_RANK_DIFFERS, SHAPE_MISMATCH};
use crate::diag::{Finding, Sink};
use crate::graph::NodeId;
use crate::infer::decided_branch;
use crate::infer::{Conflict, Fact, Fault, Shape};
use crate::lint::LintContext;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[SHAPE_MISMATCH, BRANCH_RANK_DIFFERS, BAD_VALUE], run };

fn mismatch(cx: &LintContext, node: NodeId, input: usize, why: String, label: String) -> Finding {
    let message = format!("`{}` cannot run: {why}", cx.node_name(node));
    let mut finding = cx.at_node(SHAPE_MISMATCH, node, Part::Input(input), message).label(label);
    let of = &cx.model.nodes[node];
    for value in of.inputs.iter().flatten() {
        if let (Some(shape), false) = (cx.facts[*value].shape(), cx.facts[*value].is_const()) {
            finding = finding.related(cx.places.value(*value), format!("`{}` is {shape}", cx.name(*value)));
        }
    }
    finding
}

fn branches(cx: &LintContext, node: NodeId, output: usize, (a, b): (usize, usize)) -> Finding {
    let message = format!("the branches of `{}` give results of {a} and of {b} axes", cx.node_name(node));
    cx.at_node(BRANCH_RANK_DIFFERS, node, Part::Output(output), message)
        .label("its rank depends on the branch taken")
        .note("a `squeeze` without a known size exports like this: it removes the axis only if its size is 1")
        .help("squeeze or index only where the size is known, or reshape to the rank that is wanted")
}

fn bad_value(cx: &LintContext, node: NodeId, name: &str, why: &str) -> Finding {
    let of = &cx.model.nodes[node];
    let part = if of.attr(name).is_some() { Part::Attr(name) } else { Part::Whole };
    cx.at_node(BAD_VALUE, node, part, format!("`{}` cannot run: `{name}` {why}", cx.node_name(node)))
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let is_decided = |node: NodeId| decided_branch(cx.model, cx.facts, node).is_some();
    let mut of_branches = Vec::new();
    for (node, fault) in &cx.facts.faults {
        match finding(cx, *node, fault) {
            Some(finding) if *finding.code == *BRANCH_RANK_DIFFERS.code => {
                of_branches.extend((!is_decided(*node)).then_some(finding));
            }
            found => sink.extend(found),
        }
    }
    sink.extend(first(of_branches));
}

/// The first of some findings that say the same of other nodes, with how many more there are.
fn first(findings: Vec<Finding>) -> Option<Finding> {
    let more = findings.len().saturating_sub(1);
    let first = findings.into_iter().next()?;
    Some(if more > 0 {
        first.note(format!("so it is with {more} more results in this model"))
    } else {
        first
    })
}

/// `None` for faults that are about types, and for those that a rule of their own is about.
fn finding(cx: &LintContext, node: NodeId, fault: &Fault) -> Option<Finding> {
    let of = &cx.model.nodes[node];
    let name = |input: usize| of.input(input).map_or("", |value| cx.name(value));
    let shape = |input: usize| cx.input(of, input).and_then(Fact::shape).cloned().unwrap_or(Shape::UNKNOWN);
    Some(match fault {
        Fault::TypeMismatch { .. } | Fault::TypeNotAllowed { .. } => return None,
        Fault::NotBroadcastable { inputs: (a, b), shapes: (x, y) } => {
            let why = format!("`{}` is {x} and `{}` is {y}, which do not broadcast", name(*a), name(*b));
            mismatch(cx, node, *b, why, "neither equal nor 1".to_owned())
        }
        Fault::SizeMismatch { inputs: (a, b), axes: (i, j), dims: (m, n) } => {
            let why = format!("axis {i} of `{}` is {m}, and axis {j} of `{}` is {n}", name(*a), name(*b));
            mismatch(cx, node, *b, why, format!("{n}, where {m} must be"))
        }
        Fault::Rank { input, rank, expected } => {
            let why = format!("`{}` has {rank} axes, and must have {expected}", name(*input));
            mismatch(cx, node, *input, why, format!("shape {}", shape(*input)))
        }
        Fault::Axis { axis, rank } => {
            let why = format!("there is no axis {axis} among {rank}");
            mismatch(cx, node, 0, why, format!("shape {}", shape(0)))
        }
        Fault::Elements { input, from, to } => {
            let why = format!("`{}` of shape {from} does not have as many elements as {to}", name(*input));
            mismatch(cx, node, *input, why, counts(from, to))
        }
        Fault::Branches { output, what: Conflict::Rank(a, b) } => branches(cx, node, *output, (*a, *b)),
        Fault::Branches { .. } => return None,
        Fault::Carried { what: Conflict::Elem(..), .. } => return None,
        Fault::Carried { input, what } => {
            let why = format!("what its body hands on is not what it takes as `{}`: {what}", name(*input));
            mismatch(cx, node, *input, why, "what the first iteration takes".to_owned())
        }
        // Its own rule says more: EXP013.
        Fault::Value { name: "depth", .. } => return None,
        Fault::Value { name, why } => bad_value(cx, node, name, why),
    })
}

fn counts(from: &Shape, to: &Shape) -> String {
    match (from.numel(), to.numel()) {
        (Some(from), Some(to)) => format!("{from} elements, where {to} must be"),
        _ => format!("shape {from}"),
    }
}
