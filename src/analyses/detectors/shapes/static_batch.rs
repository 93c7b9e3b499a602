//! SHP003: models with a static batch size of 1.

use super::Detector;
use crate::analyses::LintContext;
use crate::diag::rule_ids::STATIC_BATCH;
use crate::diag::{Finding, Sink};
use crate::graph::{DeclaredDim, Port, TypeKind};

/// Detector of SHP003.
pub const DETECTOR: Detector = Detector { rules: &[STATIC_BATCH], run };

fn static_batch(cx: &LintContext, port: &Port, inputs: usize) -> Finding {
    let name = cx.name(port.value);
    let message = match inputs {
        1 => format!("input `{name}` has no dynamic axis: the model only supports a batch size of 1"),
        _ => {
            format!("no input has a dynamic axis: the model only supports a batch size of 1, as in `{name}`")
        }
    };
    let mut finding = STATIC_BATCH.finding(message, cx.places.declaration(port.value));
    finding.anchor.module = cx.model.values[port.value].name.clone();
    finding.help(format!(
        "export with dynamic_shapes, or run onnx-fix --dynamic {name}:0=batch, with one --dynamic for each \
         batched input"
    ))
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

/// Returns the sizes of an input; `None` unless every axis of the input has a static size above 0.
fn fixed_sizes(port: &Port) -> Option<Vec<i64>> {
    let TypeKind::Tensor { shape: Some(shape), .. } = &port.info.ty.as_ref()?.kind else { return None };
    let size = |dimension: &crate::graph::Dimension| match dimension.dim {
        DeclaredDim::Value(value) if value > 0 => Some(value),
        _ => None,
    };
    shape.iter().map(size).collect()
}
