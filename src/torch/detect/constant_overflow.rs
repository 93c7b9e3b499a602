//! DTY003: a factor that overflows float16.

use crate::diag::Finding;
use crate::diag::rule_ids::CONSTANT_OVERFLOW;
use crate::graph::ElemType;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, Trace};

/// Largest finite float16 number.
const MOST: f64 = 65504.0;

/// Reports factors that overflow float16, as in `(1 - keep) * -1e9`.
///
/// PyTorch multiplies in float32 and rounds the product to float16. Exporters store the factor in float16,
/// where it is infinite. Added constants are ignored: the sum is infinite in PyTorch and in the exported
/// model.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        let Some(number) = too_large(trace, node) else { continue };
        out.push(
            context
                .finding(CONSTANT_OVERFLOW, id, format!("`{}` multiplies by {number:e}, which overflows float16", node.op))
                .label("infinite in float16; 0 * inf is NaN")
                .note("a mask computed this way turns every element that it should keep into NaN")
                .help("use `torch.where(keep, x, torch.finfo(x.dtype).min)`, or a factor in the range of float16"),
        );
    }
}

/// Returns the constant factor of a float16 multiplication if this factor overflows float16.
fn too_large(trace: &Trace, node: &Node) -> Option<f64> {
    if !matches!(node.op.aten()?, "mul" | "mul_") {
        return None;
    }
    let half = trace.receiver(node).and_then(|value| trace.value(value).ty.elem());
    let number = match trace.see(&node.inputs.get(1)?.argument) {
        Argument::Float(float) => *float,
        Argument::Int(int) => *int as f64,
        Argument::Tensor(tensor) => match tensor.elements.as_deref()? {
            [one] => *one,
            _ => return None,
        },
        _ => return None,
    };
    (half == Some(ElemType::Float16) && number.abs() > MOST).then_some(number)
}
