//! EXP001: a hard-coded shape for a dynamic dimension.

use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Finding, Level};
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace};
use crate::torch::types::Size;

/// Reports constant target shapes where the input dimension is dynamic.
///
/// In graphs with dynamic dimensions, findings are errors, or of level info if a batch is mixed with other
/// axes. In a trace, where all sizes are static, a fully constant target shape is reported at level info.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    for (id, node) in context.trace.nodes() {
        let finding = match (&*node.op.namespace, &*node.op.name) {
            ("aten", "reshape" | "view") | ("onnx", "Reshape") => {
                reshape(context, id, node).or_else(|| fixed_reshape(context, id, node))
            }
            ("aten", "expand") | ("onnx", "Expand") => expand(context, id, node),
            _ => None,
        };
        out.extend(finding);
    }
}

fn reshape(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let trace = context.trace;
    let from = input_shape(trace, node)?;
    let target = literal_shape(trace, node)?;
    let free = from.iter().position(|size| size.fixed().is_none())?;
    let shown = listed(&target);
    let given = trace.receiver(node).map_or_else(String::new, |value| context.describe(value));
    if target.iter().all(|&size| size > 0) {
        let elements: i64 = target.iter().try_fold(1i64, |count, &size| count.checked_mul(size))?;
        return Some(
            context
                .finding(
                    BAKED_SHAPE,
                    id,
                    format!(
                        "`{}` to {shown} hard-codes axis {free} of {given}, which is dynamic",
                        node.op.name
                    ),
                )
                .label(format!("always {elements} elements"))
                .note("the model fails at run time for any size other than the exported one")
                .help(format!("use `x.shape[{free}]` or -1 for this size")),
        );
    }
    // Axis 0 of the input is dynamic, but only the axis given as -1 can vary: it mixes samples of the batch.
    let leading = *target.first().filter(|&&size| size > 1)?;
    let folded = free == 0 && target.iter().filter(|&&size| size == -1).count() == 1 && !target.contains(&0);
    folded.then(|| {
        context
            .finding(
                BAKED_SHAPE.at(Level::Info),
                id,
                format!(
                    "`{}` to {shown} fixes axis 0 at {leading}, but axis 0 of {given} is dynamic",
                    node.op.name
                ),
            )
            .label("-1 is replaced by the remaining number of elements")
            .note("other batch sizes silently mix elements of different samples, or fail")
            .help("keep the batch axis: `x.reshape(x.shape[0], …)`")
    })
}

/// Reports a fully constant target shape in a trace, in the user's own code.
fn fixed_reshape(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let trace = context.trace;
    let given =
        trace.receiver(node).filter(|&value| trace.origin == Origin::TorchScript && context.varies(value))?;
    let target = literal_shape(trace, node)?;
    let elements = target.iter().try_fold(1i64, |count, &size| count.checked_mul(size))?;
    let is_fixed = elements > 1 && target.iter().all(|&size| size > 0);
    context.user_source(node).filter(|source| is_fixed && !source.file.contains("-packages"))?;
    let message = format!(
        "`{}` to {} requires exactly {elements} elements in {}",
        node.op.name,
        listed(&target),
        context.describe(given)
    );
    Some(
        context
            .finding(BAKED_SHAPE.at(Level::Info), id, message)
            .label("every size is a constant")
            .note("with a dynamic axis, the model fails for any size other than the exported one")
            .help("use sizes of the tensor such as `x.shape[0]`, or -1 for one of them"),
    )
}

fn expand(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let from = input_shape(context.trace, node)?;
    let target = literal_shape(context.trace, node)?;
    let offset = target.len().checked_sub(from.len())?;
    let fixed = from
        .iter()
        .zip(&target[offset..])
        .position(|(size, &wanted)| size.fixed().is_none() && wanted > 1)?;
    let given = context.trace.receiver(node).map_or_else(String::new, |value| context.describe(value));
    Some(
        context
            .finding(
                BAKED_SHAPE,
                id,
                format!(
                    "`{}` to {} hard-codes axis {fixed} of {given}, which is dynamic",
                    node.op.name,
                    listed(&target)
                ),
            )
            .label("valid only if that axis has this size or size 1")
            .help("use -1 for axes that keep their size"),
    )
}

/// Returns the shape of the first operand if one of its dimensions is dynamic.
fn input_shape<'a>(trace: &'a Trace, node: &Node) -> Option<&'a [Size]> {
    let shape = trace.value(trace.receiver(node)?).ty.shape()?;
    shape.iter().any(|size| size.fixed().is_none()).then_some(shape)
}

/// Returns the target shape of a node if it is constant.
fn literal_shape(trace: &Trace, node: &Node) -> Option<Vec<i64>> {
    let argument = trace.argument(node, 1, if &*node.op.name == "view" { "size" } else { "shape" })?;
    match trace.see(argument) {
        Argument::List(members) => members.iter().map(|member| trace.int(member)).collect(),
        Argument::Tensor(tensor) => Some(tensor.elements.as_ref()?.iter().map(|&size| size as i64).collect()),
        _ => None,
    }
}

fn listed(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
