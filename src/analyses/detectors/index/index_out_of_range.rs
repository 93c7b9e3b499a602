//! IDX006 and IDX001: constant indices that are out of range, or negative, which some runtimes reject.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::counted;
use crate::diag::rule_ids::{INDEX_OUT_OF_RANGE, NEGATIVE_INDEX};
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::Dim;
use crate::graph::{Node, NodeId, Owner};
use crate::infer::{Fact, Size};

/// Detector of IDX001 and IDX006.
pub const DETECTOR: Detector = Detector { rules: &[INDEX_OUT_OF_RANGE, NEGATIVE_INDEX], run };

fn out_of_range(cx: &LintContext, node: NodeId, index: i64, axis: usize, size: i64) -> Finding {
    let name = cx.model.nodes[node].input(0).map_or("", |value| cx.name(value));
    let elements = counted(size, "element");
    let message = format!("the index {index} is out of range: axis {axis} of `{name}` has {elements}");
    // If the node is in a subgraph, the model may skip it when the axis is too short.
    let graph = &cx.model.graphs[cx.model.nodes[node].graph];
    let rule = match graph.owner {
        Owner::Node(_) => INDEX_OUT_OF_RANGE.at(Level::Warning),
        Owner::Model | Owner::Function(_) => INDEX_OUT_OF_RANGE,
    };
    let finding = cx.at_node(rule, node, Part::Input(1), message);
    match size {
        0 => finding.label("an empty axis has no valid index"),
        _ => finding.label(format!("must be in the range -{size} to {}", size - 1)),
    }
}

fn negative(cx: &LintContext, node: NodeId, index: i64) -> Finding {
    let message = format!("the constant index {index} is negative, which some runtimes do not support");
    cx.at_node(NEGATIVE_INDEX.at(Level::Hint), node, Part::Input(1), message).help(
        "use a non-negative index; ONNX allows negative indices since opset 11, but some accelerators do not",
    )
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes().filter(|(_, node)| node.domain().is_empty()) {
        let Some(places) = indexed(cx, node) else { continue };
        let size_of = |axis: usize| cx.input(node, 0)?.dims()?.get(axis)?.as_ref()?.as_const();
        let outside = places.iter().find_map(|&(index, axis)| {
            let size = size_of(axis)?;
            (!(-size..size).contains(&index)).then_some((index, axis, size))
        });
        if let Some((index, axis, size)) = outside {
            sink.push(out_of_range(cx, id, index, axis, size));
        } else if let Some((index, _)) = places.iter().find(|(index, _)| *index < 0)
            && !is_shape(cx, node)
        {
            sink.push(negative(cx, id, *index));
        }
    }
}

/// Returns the constant indices of a node, each with the data axis that it indexes.
fn indexed(cx: &LintContext, node: &Node) -> Option<Vec<(i64, usize)>> {
    let fact = cx.input(node, 1)?;
    let numbers = |fact: &Fact| -> Option<Vec<i64>> {
        fact.as_ints()?.iter().map(|int: &Size| int.as_ref().and_then(Dim::as_const)).collect()
    };
    let rank = cx.input(node, 0)?.rank()?;
    let axis = || {
        let axis = node.attr("axis").and_then(|axis| axis.as_int()).unwrap_or(0);
        let axis = if axis < 0 { axis + i64::try_from(rank).ok()? } else { axis };
        usize::try_from(axis).ok()
    };
    match &*node.op_type {
        "Gather" | "GatherElements" | "ScatterElements" | "Scatter" => {
            let axis = axis()?;
            Some(numbers(fact)?.into_iter().map(|index| (index, axis)).collect())
        }
        "GatherND" | "ScatterND" => {
            let first = node.attr("batch_dims").and_then(|dims| dims.as_int()).unwrap_or(0);
            let first = usize::try_from(first).ok()?;
            let width = usize::try_from(fact.dims()?.last()?.as_ref()?.as_const()?)
                .ok()
                .filter(|&width| width > 0)?;
            let place = |(at, index): (usize, i64)| (index, first + at % width);
            Some(numbers(fact)?.into_iter().enumerate().map(place).collect())
        }
        _ => None,
    }
}

/// Whether a node indexes a shape: `x.shape[-1]` is common, and runtimes fold it.
fn is_shape(cx: &LintContext, node: &Node) -> bool {
    let maker = node.input(0).and_then(|value| cx.model.producer(value));
    maker.is_some_and(|(maker, _)| &*cx.model.nodes[maker].op_type == "Shape")
}
