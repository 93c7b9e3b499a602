//! SHP003: a model that takes one size only.

use super::Detector;
use crate::diag::rule_ids::STATIC_BATCH;
use crate::diag::{Finding, Sink};
use crate::graph::{DeclaredDim, Port, TypeKind};
use crate::lint::LintContext;

pub const DETECTOR: Detector = Detector { rules: &[STATIC_BATCH], run };

fn static_batch(cx: &LintContext, port: &Port, inputs: usize) -> Finding {
    let name = cx.name(port.value);
    let message = match inputs {
        1 => format!("the input `{name}` has no free axis: the model takes a batch of 1 only"),
        _ => format!("no input has a free axis: the model takes a batch of 1 only, as of `{name}`"),
    };
    let mut finding = STATIC_BATCH.finding(message, cx.places.declaration(port.value));
    finding.anchor.module = cx.model.values[port.value].name.clone();
    finding.help(format!("export with dynamic_shapes, or free it with onnx-fix --dynamic {name}:0=batch"))
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let inputs = &cx.model.graphs[cx.model.main].inputs;
    let given: Vec<&Port> =
        inputs.iter().filter(|port| cx.model.values[port.value].initial.is_none()).collect();
    let sizes: Option<Vec<Vec<i64>>> = given.iter().map(|port| fixed_sizes(port)).collect();
    let Some(sizes) = sizes else { return };
    let batch_of_one = given.iter().zip(&sizes).find(|(_, sizes)| sizes.len() > 1 && sizes[0] == 1);
    sink.extend(batch_of_one.map(|(port, _)| static_batch(cx, port, given.len())));
}

/// The sizes of an input all of whose axes are fixed.
fn fixed_sizes(port: &Port) -> Option<Vec<i64>> {
    let TypeKind::Tensor { shape: Some(shape), .. } = &port.info.ty.as_ref()?.kind else { return None };
    let size = |dimension: &crate::graph::Dimension| match dimension.dim {
        DeclaredDim::Value(value) if value > 0 => Some(value),
        _ => None,
    };
    shape.iter().map(size).collect()
}
