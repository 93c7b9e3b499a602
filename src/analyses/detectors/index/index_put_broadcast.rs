//! IDX004: ScatterND nodes with updates that need a broadcast.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::INDEX_PUT_BROADCAST;
use crate::diag::{Finding, Sink};
use crate::graph::dim::{Answer, Dim};
use crate::graph::{Node, NodeId};
use crate::infer::{Shape, Size};

/// Detector of IDX004.
pub const DETECTOR: Detector = Detector { rules: &[INDEX_PUT_BROADCAST], run };

fn broadcast(cx: &LintContext, id: NodeId, places: Vec<Size>) -> Finding {
    let node = &cx.model.nodes[id];
    let name = node.input(2).map_or("", |value| cx.name(value));
    let shape = cx.input(node, 2).and_then(|fact| fact.shape()).cloned().unwrap_or(Shape::UNKNOWN);
    let message = format!(
        "`{}` writes `{name}` of shape {shape}, but updates must have shape {}",
        cx.node_name(id),
        Shape::new(places)
    );
    cx.at_node(INDEX_PUT_BROADCAST, id, Part::Input(2), message)
        .label("ScatterND does not broadcast updates: every run fails")
        .help("expand the value before the write: x[i, j] = v.expand(…)")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        if node.is("ScatterND") {
            let places = places(cx, node).filter(|places| needs_broadcast(cx, node, places));
            sink.extend(places.map(|places| broadcast(cx, id, places)));
        }
    }
}

/// Returns the required shape of the updates.
fn places(cx: &LintContext, node: &Node) -> Option<Vec<Size>> {
    let (data, indices) = (cx.input(node, 0)?.dims()?, cx.input(node, 1)?.dims()?);
    let (depth, lead) = indices.split_last()?;
    let depth = usize::try_from(depth.as_ref()?.as_const()?).ok()?;
    Some(lead.iter().chain(data.get(depth..)?).cloned().collect())
}

/// Whether the shape of the updates certainly differs from `places`, but broadcasts to it.
fn needs_broadcast(cx: &LintContext, node: &Node, places: &[Size]) -> bool {
    let Some(value) = cx.input(node, 2).and_then(|fact| fact.dims()) else { return false };
    let one = Dim::known(1);
    let is = |a: &Size, b: &Dim| a.as_ref().map(|a| a.equals(b, &cx.facts.bounds));
    let pairs = || value.iter().rev().zip(places.iter().rev());
    let fits = |(value, place): (&Size, &Size)| {
        let equals = place.as_ref().and_then(|place| is(value, place));
        is(value, &one) == Some(Answer::Always) || equals == Some(Answer::Always)
    };
    let differs = |(value, place): (&Size, &Size)| {
        place.as_ref().and_then(|place| is(value, place)) == Some(Answer::Never)
    };
    value.len() <= places.len() && pairs().all(fits) && (value.len() < places.len() || pairs().any(differs))
}
