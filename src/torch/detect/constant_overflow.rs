//! DTY003: a factor that the type of the tensor cannot hold.

use crate::diag::Finding;
use crate::diag::known::CONSTANT_OVERFLOW;
use crate::graph::ElemType;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, Trace};

/// The greatest finite number of float16.
const MOST: f64 = 65504.0;

/// `(1 - keep) * -1e9` in float16: PyTorch multiplies in float and rounds, exporters write the number in float16,
/// where it is infinite. A sum with it is infinite in both.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        let Some(number) = too_large(trace, node) else { continue };
        out.push(
            context
                .finding(CONSTANT_OVERFLOW, id, format!("`{}` takes {number:e}, which float16 cannot hold", node.op))
                .label("infinite in float16: 0 times it is NaN")
                .note("a mask by such a product makes NaN of every element that it should leave as it is")
                .help("choose by torch.where(keep, x, torch.finfo(x.dtype).min), or multiply by a number that float16 holds"),
        );
    }
}

/// The number that a float16 tensor is multiplied by.
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
