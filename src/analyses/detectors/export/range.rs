//! EXP001 in graphs of the torch.export-based exporter.
//!
//! The detector reports dynamic dimensions that the exporter recorded as valid for some sizes only, and
//! dynamic dimensions whose name is a number: the size that the exporter made static.

use super::Detector;
use super::trial::infer_at;
use crate::analyses::LintContext;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Dimension, NodeId, Port, TypeKind, ValueId};
use crate::infer::Facts;

/// Detector of EXP001.
pub const DETECTOR: Detector = Detector { rules: &[BAKED_SHAPE], run };

/// Lower bound that the exporter assumes of every size; it is not reported.
const LEAST_SUPPOSED: i64 = 2;

fn narrow(cx: &LintContext, input: ValueId, axis: usize, size: &Symbol) -> Option<Finding> {
    let range = cx.facts.bounds.of(size);
    let name = cx.name(input);
    let least = range.lo.filter(|&lo| lo > LEAST_SUPPOSED);
    // The author may have requested a range, `Dim("seq", max=512)`, but not a single size.
    let (level, holds) = match (range.as_point(), least, range.hi) {
        (Some(number), ..) => (Level::Warning, format!("for {number} only")),
        (None, Some(least), Some(most)) => (Level::Info, format!("from {least} to {most} only")),
        (None, Some(least), None) => (Level::Info, format!("from {least}")),
        (None, None, Some(most)) => (Level::Info, format!("up to {most}")),
        (None, None, None) => return None,
    };
    let message =
        format!("input `{name}` declares `{size}` dynamic, but the exported graph is valid {holds}");
    let finding = cx
        .at_declaration(BAKED_SHAPE.at(level), input, message)
        .label(format!("axis {axis} is dynamic"))
        .note(
            "torch.export recorded this range, within which conditions like `if x.shape[1] > 8` are constant",
        )
        .help("if the range is not intended, remove the condition on the size from `forward`");
    Some(finding)
}

/// Multiples of the traced size at which shapes are inferred.
///
/// Strides and windows often require a multiple of the traced size.
const MULTIPLES: [i64; 2] = [2, 3];

/// Evidence that a graph is valid for the traced size of an axis only.
enum Fixed {
    /// The given node fails at the given multiple of the traced size.
    Fails(NodeId, i64),
    /// The given output has the traced size at every tried multiple of it.
    Keeps(ValueId),
}

/// Returns evidence that the graph is valid only if the axis with the name `number` has this size.
fn fixed(cx: &LintContext, axis: usize, number: i64) -> Option<Fixed> {
    let name = number.to_string();
    let known = |node: NodeId| cx.facts.faults.iter().any(|(faulty, _)| *faulty == node);
    let at: Vec<(i64, Facts)> = MULTIPLES
        .iter()
        .filter_map(|multiple| number.checked_mul(*multiple))
        .map(|size| (size, infer_at(cx.model, &name, size)))
        .collect();
    let fails = |(size, facts): &(i64, Facts)| {
        let fault = facts.faults.iter().find(|(node, _)| !known(*node))?;
        Some(Fixed::Fails(fault.0, *size))
    };
    // A single size may fail because it is not divisible as required, so only a failure at all sizes is
    // evidence.
    if at.iter().all(|trial| fails(trial).is_some()) {
        return at.first().and_then(fails);
    }
    let keeps = |value: &ValueId| {
        at.iter().all(|(_, facts)| {
            let size = facts[*value].dims().and_then(|dims| dims.get(axis)?.as_ref()?.as_const());
            size == Some(number)
        })
    };
    let outputs = cx.model.graphs[cx.model.main].outputs.iter().map(|port| port.value);
    outputs.into_iter().find(|value| number > 1 && axis == 0 && keeps(value)).map(Fixed::Keeps)
}

/// Creates the finding of an axis whose name is its size, as PyTorch 2.5 names static axes.
fn numbered(cx: &LintContext, input: ValueId, axis: usize, number: i64) -> Finding {
    let name = cx.name(input);
    let evidence = fixed(cx, axis, number);
    let label = match &evidence {
        Some(Fixed::Fails(node, size)) => {
            format!("a runtime accepts any size here, but `{}` fails at {size}", cx.node_name(*node))
        }
        Some(Fixed::Keeps(output)) => {
            format!("output `{}` has {number} rows at every size", cx.name(*output))
        }
        None => "a runtime accepts any size here, but the graph may be valid for one size only".to_owned(),
    };
    let message = format!(
        "axis {axis} of input `{name}` is dynamic, but its name `{number}` is the size that the export fixed"
    );
    let level = if evidence.is_some() { Level::Warning } else { Level::Info };
    cx.at_declaration(BAKED_SHAPE.at(level), input, message)
        .label(label)
        .note("torch.export specialized the axis, for example because of a loop over it or a table of its length")
        .help("support any size in `forward`, or remove the axis from dynamic_shapes to declare it static")
}

/// Returns the axes of an input whose names are numbers, with these numbers.
fn numbers(port: &Port) -> Vec<(usize, i64)> {
    let Some(TypeKind::Tensor { shape: Some(shape), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
        return Vec::new();
    };
    let number = |(axis, dimension): (usize, &Dimension)| match &dimension.dim {
        DeclaredDim::Param(name) => Some((axis, name.parse().ok()?)),
        DeclaredDim::Value(_) | DeclaredDim::Absent => None,
    };
    shape.iter().enumerate().filter_map(number).collect()
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut seen: Vec<Symbol> = Vec::new();
    for port in &cx.model.graphs[cx.model.main].inputs {
        sink.extend(numbers(port).into_iter().map(|(axis, number)| numbered(cx, port.value, axis, number)));
        for (axis, size) in cx.facts[port.value].dims().unwrap_or_default().iter().enumerate() {
            let Some(symbol) = size.as_ref().and_then(Dim::as_symbol) else { continue };
            if !seen.contains(symbol) {
                seen.push(symbol.clone());
                sink.extend(narrow(cx, port.value, axis, symbol));
            }
        }
    }
}
