//! EXP005, EXP012: tensors that came into the trace as constants.

use crate::diag::{Finding, Level};
use crate::torch::argument::{Argument, TensorLiteral};
use crate::torch::context::Context;
use crate::torch::rule::Rule;
use crate::torch::trace::{Node, NodeId, Origin, Trace, ValueId};

const NUMPY_CONSTANT: Rule = Rule::new("EXP005", "numpy-constant", Level::Warning);
const TENSOR_DATA: Rule = Rule::new("EXP012", "tensor-data", Level::Warning);

/// Looks at the constants of at least one axis that a trace holds. Those of `torch.tensor([…])` show as
/// `aten::to` and `aten::detach`, those of `torch.from_numpy` as `aten::lift_fresh`; a constant that is used
/// as it stands is a tensor the tracer had never seen: `x.data` is one.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    if trace.origin != Origin::TorchScript {
        return;
    }
    for (_, node) in trace.nodes() {
        let Some((value, shape)) = large_constant(trace, node) else { continue };
        let Some(like) = input_of_shape(trace, value, &shape) else { continue };
        for user in &trace.value(value).users {
            let crate::torch::trace::User::Node(reader) = *user else { continue };
            let finding = if trace.node(reader).op.is("aten", "lift_fresh") {
                Some(numpy_constant(context, reader, like))
            } else {
                tensor_data(context, reader, value, like)
            };
            out.extend(finding);
        }
    }
}

/// A `prim::Constant` of rank 1 or more with two elements at least.
fn large_constant(trace: &Trace, node: &Node) -> Option<(ValueId, Vec<i64>)> {
    let value = *node.outputs.first().filter(|_| node.op.is("prim", "Constant"))?;
    let Some(Argument::Tensor(TensorLiteral { shape: Some(shape), .. })) = &trace.value(value).literal else {
        return None;
    };
    (shape.iter().any(|&size| size > 1)).then(|| (value, shape.clone()))
}

/// An input of the shape and element type of a constant.
fn input_of_shape(trace: &Trace, constant: ValueId, shape: &[i64]) -> Option<ValueId> {
    let elem = trace.value(constant).ty.elem();
    trace.inputs().find(|&input| {
        let ty = &trace.value(input).ty;
        let sizes: Option<Vec<i64>> =
            ty.shape().and_then(|sizes| sizes.iter().map(|size| size.traced()).collect());
        sizes.as_deref() == Some(shape) && ty.elem() == elem
    })
}

fn numpy_constant(context: &Context, id: NodeId, like: ValueId) -> Finding {
    let input = context.describe(like);
    context
        .finding(&NUMPY_CONSTANT, id, format!("a NumPy array became a constant of exactly the shape of {input}"))
        .label("made outside of the trace")
        .note("its elements are those of the export; it fits no other shape, and if it was computed from an input, that is lost")
        .help("make it with torch, from the tensor it goes with: `torch.ones_like(x)`, `x.new_zeros(x.shape)`")
}

/// What a constant is read by: in place, or in arithmetic with the input it looks like.
fn tensor_data(context: &Context, id: NodeId, constant: ValueId, like: ValueId) -> Option<Finding> {
    let trace = context.trace;
    let node = trace.node(id);
    let changed = node.op.writes().is_some() && trace.receiver(node) == Some(constant);
    context.user_source(node).filter(|_| changed || trace.values_read(node).contains(&like))?;
    let input = context.describe(like);
    let what = if changed { "is changed in place" } else { "is used beside it" };
    Some(
        context
            .finding(&TENSOR_DATA, id, format!("a constant of the shape of {input} {what}: the trace lost where it came from"))
            .label("a constant, not the input")
            .note(format!("`{input}.data` looks like this: the trace cannot follow it, and keeps the elements of the example input", input = input.trim_matches('`')))
            .help("use `.detach()` instead of `.data`, and `x = x + 1` instead of `x += 1`"),
    )
}
