//! DTY002: a float64 tensor promotes a computation in a narrower float type to float64.

use crate::diag::Finding;
use crate::diag::rule_ids::FLOAT64_PROMOTION;
use crate::graph::ElemType;
use crate::torch::context::Context;
use crate::torch::trace::{Node, Trace, ValueId};
use crate::torch::types::torch_dtype;

/// Reports operators that take a narrower float and a float64 tensor and return float64.
///
/// Python numbers and 0-d tensors do not promote, and are ignored.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        let Some((narrow, wide)) = promotion(trace, node) else { continue };
        let narrow_type = trace.value(narrow).ty.elem().map_or("float", torch_dtype);
        let mut finding = context
            .finding(FLOAT64_PROMOTION, id, format!("`{}` computes in float64: {} is {narrow_type}, {} is float64", node.op, context.describe(narrow), context.describe(wide)))
            .label("float64 from here on")
            .note("float64 takes twice the memory, is slow or missing on most accelerators, and ONNX Runtime lacks it for many operators")
            .help(format!("convert the float64 operand to {narrow_type}: pass `dtype={narrow_type}` where it is created, or call `.to(x.dtype)`"));
        if let Some(producer) = trace.producer(wide) {
            finding = finding.related(context.place(producer), "this is float64");
        }
        out.push(finding);
    }
}

/// Returns a narrower and a float64 operand, neither 0-d, of a node that returns float64.
fn promotion(trace: &Trace, node: &Node) -> Option<(ValueId, ValueId)> {
    let result = trace.value(*node.outputs.first()?).ty.elem()?;
    if result != ElemType::Double || is_conversion(&node.op.name) {
        return None;
    }
    let read = trace.values_read(node);
    let of_type = |wanted: &dyn Fn(ElemType) -> bool| {
        read.iter().copied().find(|&value| {
            let ty = trace.value(value).ty.tensor();
            ty.is_some_and(|ty| ty.elem.is_some_and(wanted) && ty.rank().is_some_and(|rank| rank > 0))
        })
    };
    let narrow = of_type(&|elem| elem.is_float() && elem != ElemType::Double)?;
    Some((narrow, of_type(&|elem| elem == ElemType::Double).or_else(|| untyped(trace, node, narrow))?))
}

/// Returns the operand with an unrecorded dtype that an arithmetic operator combines with `narrow`.
///
/// This operand, such as a buffer, is float64: the node returns float64, and only a float64 tensor of
/// rank 1 or more promotes `narrow`.
fn untyped(trace: &Trace, node: &Node, narrow: ValueId) -> Option<ValueId> {
    let operands: Vec<ValueId> = trace.values_read(node).into_iter().take(2).collect();
    let other = operands.iter().copied().find(|&value| value != narrow)?;
    let is_untyped = trace.value(other).ty.tensor().is_some_and(|ty| ty.elem.is_none());
    let is_arithmetic = matches!(&*node.op.name, "add" | "sub" | "mul" | "div" | "rsub");
    (is_arithmetic && is_untyped && operands.contains(&narrow)).then_some(other)
}

fn is_conversion(op: &str) -> bool {
    matches!(
        op,
        "to" | "type_as" | "copy_" | "_to_copy" | "Cast" | "CastLike" | "ListConstruct" | "TupleConstruct"
    )
}
