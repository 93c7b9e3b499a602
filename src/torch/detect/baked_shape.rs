//! EXP001: a constant stands where a size that may vary flows.

use crate::diag::known::BAKED_SHAPE;
use crate::diag::{Finding, Level};
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace};
use crate::torch::types::Size;

/// An error only where the shapes say which sizes may vary: in graphs of the exporter with dynamic axes.
/// A trace has fixed sizes throughout; there, a shape without any free size is worth a remark.
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
                    format!("`{}` to {shown} fixes axis {free} of {given}, which may vary", node.op.name),
                )
                .label(format!("{elements} elements, whatever comes in"))
                .note("at any size but that of the export this fails when it runs")
                .help(format!("use the size itself, `x.shape[{free}]`, or -1 where it stands")),
        );
    }
    // Axis 0 of the input is free, and -1 takes what it has: the batch is mixed with other axes.
    let leading = *target.first().filter(|&&size| size > 1)?;
    let folded = free == 0 && target.iter().filter(|&&size| size == -1).count() == 1 && !target.contains(&0);
    folded.then(|| {
        context
            .finding(
                BAKED_SHAPE.at(Level::Info),
                id,
                format!(
                    "`{}` to {shown} makes axis 0 of {given}, which may vary, always {leading}",
                    node.op.name
                ),
            )
            .label("-1 takes what is left")
            .note("at another batch size nothing fails: the elements of different samples are mixed")
            .help("keep the batch axis: `x.reshape(x.shape[0], …)`")
    })
}

/// A reshape in a trace, in the user's own code, that leaves no size open.
fn fixed_reshape(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let trace = context.trace;
    let given =
        trace.receiver(node).filter(|&value| trace.origin == Origin::TorchScript && context.varies(value))?;
    let target = literal_shape(trace, node)?;
    let elements = target.iter().try_fold(1i64, |count, &size| count.checked_mul(size))?;
    let is_fixed = elements > 1 && target.iter().all(|&size| size > 0);
    context.user_source(node).filter(|source| is_fixed && !source.file.contains("-packages"))?;
    let message = format!(
        "`{}` to {} takes exactly {elements} elements of {}",
        node.op.name,
        listed(&target),
        context.describe(given)
    );
    Some(
        context
            .finding(BAKED_SHAPE.at(Level::Info), id, message)
            .label("every size is a constant")
            .note("with a dynamic axis the exported model fails at any size but that of the export")
            .help("take the sizes from the tensor, `x.shape[0]`, or leave one to -1"),
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
                    "`{}` to {} fixes axis {fixed} of {given}, which may vary",
                    node.op.name,
                    listed(&target)
                ),
            )
            .label("fits one size of that axis, and 1")
            .help("use -1 for axes that keep their size"),
    )
}

/// The shape of the first operand, if one of its sizes may vary.
fn input_shape<'a>(trace: &'a Trace, node: &Node) -> Option<&'a [Size]> {
    let shape = trace.value(trace.receiver(node)?).ty.shape()?;
    shape.iter().any(|size| size.fixed().is_none()).then_some(shape)
}

/// The shape a node is given, if all of it is constant.
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
