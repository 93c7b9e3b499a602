//! SHP001, SHP004 and SPC036: nodes that cannot run, and branches whose outputs have different ranks.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{BAD_VALUE, BRANCH_RANK_DIFFERS, SHAPE_MISMATCH};
use crate::diag::{Finding, Sink};
use crate::graph::NodeId;
use crate::infer::decided_branch;
use crate::infer::{Conflict, Fact, Fault, Shape};
use crate::schema;

/// Detector of SHP001, SHP004 and SPC036.
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
    let message = format!("the branches of `{}` return outputs of rank {a} and {b}", cx.node_name(node));
    cx.at_node(BRANCH_RANK_DIFFERS, node, Part::Output(output), message)
        .label("its rank depends on the branch taken")
        .note("`squeeze` of a dynamic axis is exported as an `If`: it removes the axis only if its size is 1")
        .help("squeeze or index only static axes, or reshape to the intended rank")
}

fn bad_value(cx: &LintContext, node: NodeId, name: &str, why: &str) -> Finding {
    let of = &cx.model.nodes[node];
    let opset = cx.model.opset(of.graph, of.domain()).and_then(|opset| u16::try_from(opset).ok());
    let schema = opset.and_then(|opset| schema::lookup(of.domain(), &of.op_type, opset));
    let formal = schema.and_then(|schema| schema.inputs.iter().position(|formal| formal.name == name));
    let part = match formal.filter(|&input| of.input(input).is_some()) {
        _ if of.attr(name).is_some() => Part::Attr(name),
        Some(input) => Part::Input(input),
        None => Part::Whole,
    };
    cx.at_node(BAD_VALUE, node, part, format!("`{name}` of `{}` {why}", of.op_type))
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

/// Returns the first finding, with a note on the number of others.
fn first(findings: Vec<Finding>) -> Option<Finding> {
    let more = findings.len().saturating_sub(1);
    let first = findings.into_iter().next()?;
    Some(match more {
        0 => first,
        1 => first.note("1 more output of branches in this model has this fault"),
        _ => first.note(format!("{more} more outputs of branches in this model have this fault")),
    })
}

/// Creates the finding of a fault; `None` for faults that other rules report.
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
            mismatch(cx, node, *b, why, format!("is {n}, must be {m}"))
        }
        Fault::Rank { input, rank, expected } => {
            let why = format!("`{}` has rank {rank}, but the rank must be {expected}", name(*input));
            mismatch(cx, node, *input, why, format!("shape {}", shape(*input)))
        }
        Fault::Axis { axis, rank } => {
            let why = format!("axis {axis} is out of range for rank {rank}");
            mismatch(cx, node, 0, why, format!("shape {}", shape(0)))
        }
        Fault::Elements { input, from, to } => {
            let why = format!("`{}` of shape {from} cannot be reshaped to {to}", name(*input));
            mismatch(cx, node, *input, why, counts(from, to))
        }
        Fault::Branches { output, what: Conflict::Rank(a, b) } => branches(cx, node, *output, (*a, *b)),
        Fault::Branches { .. } => return None,
        Fault::Carried { what: Conflict::Elem(..), .. } => return None,
        Fault::Carried { input, what } => {
            let why = format!(
                "the value that its body returns does not match the initial `{}`: {what}",
                name(*input)
            );
            mismatch(cx, node, *input, why, "initial value".to_owned())
        }
        Fault::Shape { input, shape, text, required } => {
            let formal = text.split_whitespace().next().unwrap_or_default();
            let (is, op) = (name(*input), &of.op_type);
            let why = match required {
                Some(required) if text.contains("->") => {
                    format!("`{is}` has shape {shape}, which does not broadcast to {required}")
                }
                Some(required) => format!("`{is}` has shape {shape}, but `{op}` requires {required}"),
                None => format!("`{is}` has shape {shape}, which `{op}` does not support"),
            };
            mismatch(
                cx,
                node,
                *input,
                why,
                format!("`{formal}` of `{op}` must be {}", text[formal.len()..].trim()),
            )
        }
        Fault::Constraint { name, is, why } => {
            let finding = bad_value(cx, node, name, why);
            if let Some(is) = is { finding.label(format!("is {is}")) } else { finding }
        }
        // EXP013 reports an invalid `depth` of a OneHot.
        Fault::Value { name: "depth", .. } => return None,
        Fault::Value { name, why } => bad_value(cx, node, name, why),
    })
}

fn counts(from: &Shape, to: &Shape) -> String {
    match (from.numel(), to.numel()) {
        (Some(from), Some(to)) => format!("has {from} elements, must have {to}"),
        (Some(from), None) => {
            let part =
                to.static_part().map_or_else(String::new, |part| format!(", must have a multiple of {part}"));
            format!("has {from} elements{part}")
        }
        _ => format!("shape {from}"),
    }
}
