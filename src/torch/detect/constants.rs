//! EXP005, EXP012: tensors that became constants of the trace.

use rustc_hash::FxHashMap;

use crate::diag::rule_ids::{NUMPY_CONSTANT, TENSOR_DATA};
use crate::diag::{Finding, Level};
use crate::graph::ElemType;
use crate::torch::argument::{Argument, TensorLiteral};
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace, User, ValueId};

/// Examines constants with more than one element.
///
/// NumPy arrays and Python lists first pass through `aten::lift_fresh`, or `aten::to` and `aten::detach`. A
/// constant that is used directly is a tensor that the tracer did not record, such as `x.data`. A directly
/// used constant is suspicious only if it has the element type and the shape of a tensor that depends on the
/// input.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    if trace.origin != Origin::TorchScript {
        return;
    }
    let varying = first_of_each_shape(context);
    for (_, node) in trace.nodes() {
        let Some((value, kind)) = large_constant(trace, node) else { continue };
        let like = varying.get(&kind).copied();
        for user in &trace.value(value).users {
            let User::Node(reader) = *user else { continue };
            let finding = match trace.node(reader).op.aten() {
                Some("lift_fresh" | "to") => brought_in(context, reader, like),
                _ => never_seen(context, reader, value, like),
            };
            out.extend(finding);
        }
    }
}

/// Element type and shape of a value.
type Kind = (Option<ElemType>, Vec<i64>);

/// Returns the first input-dependent value of each element type and shape.
fn first_of_each_shape(context: &Context) -> FxHashMap<Kind, ValueId> {
    let trace = context.trace;
    let mut first = FxHashMap::default();
    for value in (0..trace.values.len() as u32).map(ValueId).filter(|&value| context.varies(value)) {
        let ty = &trace.value(value).ty;
        let sizes = ty.shape().and_then(|sizes| sizes.iter().map(|size| size.traced()).collect());
        if let Some(sizes) = sizes {
            first.entry((ty.elem(), sizes)).or_insert(value);
        }
    }
    first
}

/// Returns the value of a `prim::Constant` node, if it has more than one element.
fn large_constant(trace: &Trace, node: &Node) -> Option<(ValueId, Kind)> {
    let value = *node.outputs.first().filter(|_| node.op.is("prim", "Constant"))?;
    match &trace.value(value).literal {
        Some(Argument::Tensor(TensorLiteral { elem, shape: Some(shape), .. }))
            if shape.iter().any(|&size| size > 1) =>
        {
            Some((value, (*elem, shape.clone())))
        }
        _ => None,
    }
}

/// Reports a constant made from a NumPy array or a list; `id` is the node that converts the constant.
fn brought_in(context: &Context, id: NodeId, like: Option<ValueId>) -> Option<Finding> {
    let is_input = |value: &ValueId| context.trace.inputs().any(|input| input == *value);
    let from_array = context.trace.node(id).op.is("aten", "lift_fresh");
    context.user_source(context.trace.node(id))?;
    let (level, message) = match like.filter(is_input) {
        Some(input) => {
            let input = context.describe(input);
            (
                Level::Warning,
                format!("an array from outside torch became a constant with exactly the shape of {input}"),
            )
        }
        None if from_array => (Level::Info, "an array from outside torch became a constant".to_owned()),
        None => return None,
    };
    Some(
        context
            .finding(NUMPY_CONSTANT.at(level), id, message)
            .label("created outside the trace")
            .note("the constant is fixed at export: if NumPy or Python computed it from an input, the dependency is lost")
            .help("create it with torch from a tensor of the model: `torch.ones_like(x)`, `x.new_zeros(x.shape)`"),
    )
}

/// Reports a constant that is used directly and has the dtype and shape of the input-dependent `like`.
/// The finding is a warning if the node mutates the constant in place or combines it with `like`.
fn never_seen(context: &Context, id: NodeId, constant: ValueId, like: Option<ValueId>) -> Option<Finding> {
    let trace = context.trace;
    let node = trace.node(id);
    let like = like?;
    context.user_source(node)?;
    let changed = node.op.writes().is_some() && trace.receiver(node) == Some(constant);
    let beside = trace.values_read(node).contains(&like);
    let (level, what) = match (changed, beside) {
        (true, _) => (Level::Warning, "is changed in place"),
        (_, true) => (Level::Warning, "is combined with it"),
        _ => (Level::Info, "is used"),
    };
    let like = context.describe(like);
    Some(
        context
            .finding(TENSOR_DATA.at(level), id, format!("a constant with the shape of {like} {what}; its origin is not in the trace"))
            .label("a constant")
            .note("`.data` of a tensor becomes such a constant: tracing keeps the elements that it has for the example input")
            .help("use `.detach()` instead of `.data`, and `x = x + 1` instead of `x += 1`; register fixed tensors as buffers"),
    )
}
