//! Batching rules, one for each operator or family of operators.
//!
//! A rule is called for a node that reads a carried value, as an operand or in a subgraph, unless its outputs
//! are inferred constants. The rule emits nodes that compute the outputs for each of `N` samples
//! independently, and binds every output to a layout. Most rules keep a node that does not operate along the
//! sample axis. For other nodes, most rules move the samples to a leading axis, and shift the axes of the
//! node. A rule returns an error if it cannot prove the rewrite correct.

mod broadcast;
mod control;
mod gather;
mod join;
mod lead;
mod matmul;
mod reduce;
mod reshape;
mod resize;
mod scatter;
mod sequence;
mod shape;
mod table;
mod view;

use super::cx::Cx;
use super::layout::Layout;
use super::obstacle::{Result, mixes, unsupported};
use crate::graph::{Node, NodeId};
use table::{Family, family};

/// Rewrites a node that reads a carried value.
pub fn apply(cx: &mut Cx, id: NodeId) -> Result<()> {
    let node = &cx.model.nodes[id];
    if cx.model.callee(id).is_some() {
        return unsupported("calls of local functions have no batching rule");
    }
    match family(node.domain(), &node.op_type) {
        Some(Family::Unary) => unary(cx, id),
        Some(Family::Broadcast) => broadcast::broadcast(cx, id),
        Some(Family::Lead { inputs, outputs }) => lead::lead(cx, id, inputs, outputs),
        Some(Family::Own(rule)) => rule(cx, id),
        Some(Family::Mixes(why)) => mixes(why),
        None => unsupported(format!("`{}` has no batching rule", node.op_name())),
    }
}

/// Checks that all samples can share the outputs of a node whose inputs are all shared.
/// Fails for operators of ai.onnx that always draw random numbers, because each sample needs its own numbers.
pub fn shared(node: &Node) -> Result<()> {
    let draws = [
        "RandomNormal",
        "RandomUniform",
        "Multinomial",
        "Bernoulli",
        "RandomNormalLike",
        "RandomUniformLike",
    ];
    // The third input of Dropout enables the training mode.
    let is_training = node.is("Dropout") && node.inputs.get(2).is_some_and(Option::is_some);
    match is_training || node.domain().is_empty() && draws.contains(&&*node.op_type) {
        true => unsupported("it draws random numbers for one sample only"),
        false => Ok(()),
    }
}

/// Checks that no input but the first is carried.
pub(super) fn only_first(cx: &mut Cx, id: NodeId) -> Result<()> {
    only(cx, id, &[0])
}

/// Checks that only inputs in `allowed` are carried.
pub(super) fn only(cx: &mut Cx, id: NodeId, allowed: &[usize]) -> Result<()> {
    for (at, input) in cx.model.nodes[id].inputs.iter().enumerate() {
        if let Some(value) = *input
            && cx.layout(value).is_carried()
            && !allowed.contains(&at)
        {
            let name = &cx.model.values[value].name;
            return unsupported(format!(
                "its input `{name}` differs between samples, which this operator does not support"
            ));
        }
    }
    Ok(())
}

/// Rewrites an operator whose output elements each depend on one element of the first input.
fn unary(cx: &mut Cx, id: NodeId) -> Result<()> {
    let is_like = cx.model.nodes[id].is("CastLike");
    only(cx, id, if is_like { &[0, 1] } else { &[0] })?;
    let layout = cx.required(id, 0)?.layout;
    let inputs = cx.inputs(id);
    let outputs = cx.keep(id, inputs);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Returns a layout with its sample axis moved to `axis`.
pub(super) fn moved(layout: Layout, axis: usize) -> Layout {
    match layout {
        Layout::Axis { pre, post, .. } => Layout::Axis { axis, pre, post },
        other => other,
    }
}
