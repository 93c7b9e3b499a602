//! SHP001 at level info: minimum sizes that a Pad with mode `reflect` requires of dynamic axes.

use super::super::export::dynamic_dims::DynamicDims;
use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::counted;
use crate::diag::rule_ids::SHAPE_MISMATCH;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::{Answer, Dim};
use crate::graph::{Node, NodeId};
use crate::infer::Fact;

/// Detector of SHP001.
pub const DETECTOR: Detector = Detector { rules: &[SHAPE_MISMATCH], run };

/// Returns the pads of a node, each with its axis; `None` if the pads or their axes are not constant.
fn pads(cx: &LintContext, node: &Node, rank: usize) -> Option<Vec<(usize, i64)>> {
    let from_attr = || Some(node.attr("pads")?.as_ints()?.to_vec());
    let ints = |index: usize| cx.input(node, index).and_then(Fact::as_const)?.as_i64s().ok();
    let pads = ints(1).or_else(from_attr)?;
    let axes = match node.input(3) {
        Some(_) => ints(3)?,
        None => (0..i64::try_from(rank).ok()?).collect(),
    };
    let axis = |axis: i64| usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok();
    let axes: Vec<usize> = axes.into_iter().map(axis).collect::<Option<_>>()?;
    (pads.len() == 2 * axes.len()).then(|| axes.iter().cycle().copied().zip(pads).collect())
}

fn remark(cx: &LintContext, free: &DynamicDims, id: NodeId, node: &Node) -> Option<Finding> {
    let is_reflecting = node.is("Pad") && node.attr("mode")?.as_str() == Some("reflect");
    let dims = cx.input(node, 0)?.dims().filter(|_| is_reflecting)?;
    let mut demands: Vec<(Dim, i64)> = Vec::new();
    for (axis, pad) in pads(cx, node, dims.len())?.into_iter().filter(|(_, pad)| *pad > 0) {
        let Some(size) = dims.get(axis).cloned().flatten() else { continue };
        let least = pad.saturating_add(1);
        let is_open = size.at_least(&Dim::known(least), &cx.facts.bounds) == Answer::Unknown;
        let is_dynamic = free.lost(&size, &Dim::known(0)).is_some_and(|origin| origin.named);
        if !is_open || !is_dynamic {
            continue;
        }
        match demands.iter_mut().find(|(known, _)| *known == size) {
            Some((_, most)) => *most = (*most).max(least),
            None => demands.push((size, least)),
        }
    }
    let texts: Vec<String> =
        demands.iter().map(|(size, least)| format!("`{size}` must be at least {least}")).collect();
    let pad = demands.iter().map(|(_, least)| least - 1).max()?;
    let message = format!("`Pad` reflects {}: {}", counted(pad, "element"), texts.join(", "));
    let finding = cx.at_node(SHAPE_MISMATCH.at(Level::Info), id, Part::Whole, message);
    Some(finding.note("a reflection by n elements requires a size of n + 1 or more"))
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let free = DynamicDims::new(cx.model, cx.facts);
    if !free.is_empty() {
        sink.extend(cx.nodes().filter_map(|(id, node)| remark(cx, &free, id, node)));
    }
}
