//! Missing and invalid type declarations.

use super::Detector;
use crate::analyses::LintContext;
use crate::diag::RuleId;
use crate::diag::rule_ids::BAD_TYPE;
use crate::diag::{Finding, Level, Sink};
use crate::graph::{DeclaredDim, DeclaredShape, ElemType, Owner, Port, Type, TypeKind};

/// Detector of SPC035.
pub const DETECTOR: Detector = Detector { rules: &[BAD_TYPE], run };

fn untyped(cx: &LintContext, port: &Port) -> Finding {
    let name = cx.name(port.value);
    cx.at_value(
        BAD_TYPE,
        port.value,
        format!("input `{name}` has no type, but the specification requires one"),
    )
}

fn bad_elem(cx: &LintContext, port: &Port, number: i32) -> Finding {
    let name = cx.name(port.value);
    let message = match number {
        0 => format!("`{name}` is declared without an element type"),
        _ => format!("`{name}` is declared with element type number {number}, which ONNX does not define"),
    };
    rule_at(cx, port, BAD_TYPE, message)
}

fn negative_dim(cx: &LintContext, port: &Port, axis: usize, dim: i64) -> Finding {
    let name = cx.name(port.value);
    let message = format!("`{name}` is declared with size {dim} on axis {axis}");
    rule_at(cx, port, BAD_TYPE.at(Level::Warning), message)
        .note("some exporters write a negative size for a dynamic dimension, but runtimes differ in how they read it")
        .help("remove the size, or replace it by a dimension name")
}

/// Creates a finding at the declaration, even if a node produces the value.
fn rule_at(cx: &LintContext, port: &Port, rule: RuleId, message: String) -> Finding {
    let mut finding = rule.finding(message, cx.places.declaration(port.value));
    finding.anchor.module = cx.model.values[port.value].name.clone();
    finding
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (_, graph) in cx.graphs() {
        let ports = graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info);
        sink.extend(ports.filter_map(|port| fault(cx, port, port.info.ty.as_ref()?)));
    }
    let main = &cx.model.graphs[cx.model.main];
    let is_untyped = |port: &&Port| {
        port.info.ty.as_ref().is_none_or(|ty| ty.kind == TypeKind::Undefined)
            && cx.model.values[port.value].initial.is_none()
    };
    let inputs = main.inputs.iter().filter(is_untyped).filter(|_| main.owner == Owner::Model);
    sink.extend(inputs.map(|port| untyped(cx, port)));
}

fn fault(cx: &LintContext, port: &Port, ty: &Type) -> Option<Finding> {
    match &ty.kind {
        TypeKind::Tensor { elem, shape } | TypeKind::SparseTensor { elem, shape } => {
            let number = elem.unwrap_or(0);
            match ElemType::from_number(number) {
                // Computed values may be declared with a shape only; their type is inferred.
                None if number != 0 || is_main_input(cx, port) => Some(bad_elem(cx, port, number)),
                _ => negative(shape).map(|(axis, dim)| negative_dim(cx, port, axis, dim)),
            }
        }
        TypeKind::Sequence(inner) | TypeKind::Optional(inner) => fault(cx, port, inner.as_deref()?),
        TypeKind::Map { value, .. } => fault(cx, port, value.as_deref()?),
        TypeKind::Undefined | TypeKind::Opaque { .. } => None,
    }
}

fn is_main_input(cx: &LintContext, port: &Port) -> bool {
    cx.model.graphs[cx.model.main].inputs.iter().any(|input| input.value == port.value)
}

fn negative(shape: &DeclaredShape) -> Option<(usize, i64)> {
    let dims = shape.iter().flatten().enumerate();
    dims.into_iter().find_map(|(axis, dimension)| match dimension.dim {
        DeclaredDim::Value(value) if value < 0 => Some((axis, value)),
        _ => None,
    })
}
