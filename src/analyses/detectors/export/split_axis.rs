//! EXP001 for combined parts of a dynamic axis that is split at a constant: `x[:, :3] * x[:, 3:]`.

use super::conflict::Conflict;
use super::demand::{Demand, Demands, Kind, broadcasts};
use crate::analyses::LintContext;
use crate::graph::dim::Dim;
use crate::graph::{Node, NodeId, ValueId};
use crate::infer::Fact;

/// Maximum number of nodes to visit up to the Slice, such as the sigmoid of one half.
const MAX_STEPS: usize = 4;

/// Slice of `of` along one axis, with step 1.
struct Part {
    node: NodeId,
    of: ValueId,
    axis: i64,
    from: i64,
    to: i64,
}

/// Returns the conflict of the node that splits an axis at a constant, if `id` combines both parts.
pub fn at_node(demands: &Demands, id: NodeId) -> Option<Conflict> {
    let cx = demands.cx;
    let node = &cx.model.nodes[id];
    let [Some(one), Some(other)] = node.inputs[..] else { return None };
    if !node.domain().is_empty() || !broadcasts(&node.op_type) {
        return None;
    }
    let (one, other) = (part(cx, one)?, part(cx, other)?);
    let (first, second) = if one.from == 0 { (one, other) } else { (other, one) };
    let is_cut = first.of == second.of && first.axis == second.axis && first.to == second.from;
    if !is_cut || first.from != 0 || first.to < 2 || second.to != i64::MAX {
        return None;
    }
    let of = cx.facts[first.of].dims()?;
    let axis = if first.axis < 0 { first.axis + of.len() as i64 } else { first.axis };
    let size = of.get(usize::try_from(axis).ok()?)?.clone()?;
    let fixed = Dim::known(first.to.checked_mul(2)?);
    demands.free.lost(&size, &fixed).filter(|free| free.named)?;
    let demand = Demand { input: 2, size, fixed, kind: Kind::Halves };
    Some(Conflict { cause: first.node, demand, met: Some(id) })
}

/// Returns the Slice along one axis with step 1 from which a value derives.
///
/// Visits at most [`MAX_STEPS`] nodes: the Slice, and unary nodes after it that preserve the shape.
fn part(cx: &LintContext, value: ValueId) -> Option<Part> {
    let mut at = value;
    for _ in 0..MAX_STEPS {
        let (id, _) = cx.model.producer(at)?;
        let node = &cx.model.nodes[id];
        if node.is("Slice") {
            return slice(cx, id, node);
        }
        let [Some(input)] = node.inputs[..] else { return None };
        let keeps = cx.facts[input].dims().is_some_and(|dims| cx.facts[at].dims() == Some(dims));
        at = keeps.then_some(input)?;
    }
    None
}

fn slice(cx: &LintContext, id: NodeId, node: &Node) -> Option<Part> {
    let only = |input: usize| match &cx.input(node, input).and_then(Fact::as_ints)?[..] {
        [Some(one)] => one.as_const(),
        _ => None,
    };
    let is_in_steps = node.input(4).is_none() || only(4) == Some(1);
    let (of, axis) = (node.input(0)?, only(3)?);
    is_in_steps.then_some(Part { node: id, of, axis, from: only(1)?, to: only(2)? })
}
