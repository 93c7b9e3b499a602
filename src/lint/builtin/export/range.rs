//! EXP001 in graphs of the exporter that is based on torch.export: sizes that the interface leaves free, though the
//! exporter recorded that the graph holds for some of them only, or wrote the size that it fixed as a name.

use super::Detector;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Dimension, Port, TypeKind, ValueId};
use crate::lint::LintContext;

pub const DETECTOR: Detector = Detector { rules: &[BAKED_SHAPE], run };

/// The exporter supposes that a size is 2 at least, which is no restriction to speak of.
const LEAST_SUPPOSED: i64 = 2;

fn narrow(cx: &LintContext, input: ValueId, axis: usize, size: &Symbol) -> Option<Finding> {
    let range = cx.facts.bounds.of(size);
    let name = cx.name(input);
    let least = range.lo.filter(|&lo| lo > LEAST_SUPPOSED);
    // A range may be what its author asked for, `Dim("seq", max=512)`; a single size is no range.
    let (level, holds) = match (range.as_point(), least, range.hi) {
        (Some(number), ..) => (Level::Warning, format!("for {number} only")),
        (None, Some(least), Some(most)) => (Level::Info, format!("from {least} to {most} only")),
        (None, Some(least), None) => (Level::Info, format!("from {least} on")),
        (None, None, Some(most)) => (Level::Info, format!("up to {most}")),
        (None, None, None) => return None,
    };
    let message = format!(
        "the input `{name}` leaves `{size}` free, but the graph was exported as one that holds {holds}"
    );
    let mut finding = BAKED_SHAPE
        .at(level)
        .finding(message, cx.places.declaration(input))
        .label(format!("axis {axis} is free"))
        .note("torch.export recorded this range of the size: a decision in Python, `if x.shape[1] > 8`, went one way for all of it")
        .help("where the range is not meant, take the decision out of `forward`, or write it without one");
    finding.source = cx.places.source_of_value(input);
    finding.anchor.module = cx.model.values[input].name.clone();
    Some(finding)
}

/// The exporter of PyTorch 2.5 writes a size that it could not leave free as the name of an axis.
fn numbered(cx: &LintContext, input: ValueId, axis: usize, number: i64) -> Finding {
    let name = cx.name(input);
    let message = format!(
        "axis {axis} of the input `{name}` is free by the name `{number}`, which is the size that the export fixed"
    );
    let mut finding = BAKED_SHAPE
        .at(Level::Info)
        .finding(message, cx.places.declaration(input))
        .label("a runtime takes any size here, and the graph may be right for one")
        .note("torch.export found that `forward` works for this size alone: a loop over the axis, or a table of its length")
        .help("write it for any size; or leave the axis out of dynamic_shapes, so that the model says what it takes");
    finding.source = cx.places.source_of_value(input);
    finding.anchor.module = cx.model.values[input].name.clone();
    finding
}

/// The axes of an input whose names are numbers, with those.
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
