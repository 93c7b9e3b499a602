//! QDQ: faults of quantized graphs.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::counted;
use crate::diag::rule_ids::{DOUBLE_QUANTIZATION, PER_CHANNEL_SIZE, SCALE_NOT_POSITIVE};
use crate::diag::{Finding, Sink};
use crate::graph::{Node, NodeId, ValueId};
use crate::infer::Fact;
use crate::schema::{self, Formal};

/// Detector of QDQ001, QDQ002 and QDQ003.
pub const DETECTORS: &[Detector] =
    &[Detector { rules: &[SCALE_NOT_POSITIVE, PER_CHANNEL_SIZE, DOUBLE_QUANTIZATION], run }];

fn bad_scale(cx: &LintContext, node: NodeId, input: usize, scale: f64) -> Finding {
    let needed = if scale > 0.0 { "finite" } else { "positive" };
    let message = format!("the scale of `{}` is {scale}, but a scale must be {needed}", cx.node_name(node));
    let finding = cx.at_node(SCALE_NOT_POSITIVE, node, Part::Input(input), message);
    if scale > 0.0 || scale.is_nan() {
        return finding
            .note(
                "calibration derives such a scale from a tensor with an infinite value, like a mask of -inf",
            )
            .help("do not quantize this value, or mask with a finite number and calibrate again");
    }
    if scale < 0.0 {
        return finding.help("calibrate again, or correct the tool that wrote the scale");
    }
    finding
        .note("some quantization tools write a scale of 0 for a channel that contains only zeros")
        .help("calibrate with data for which this value is not always zero, or set the scale to 1")
}

fn bad_channels(cx: &LintContext, node: NodeId, scales: i64, axis: i64, size: i64) -> Finding {
    let (op, elements) = (&cx.model.nodes[node].op_type, counted(size, "element"));
    let message = format!("`{op}` has {scales} scales, but axis {axis} has {elements}");
    cx.at_node(PER_CHANNEL_SIZE, node, Part::Input(1), message)
        .label(format!("must have {}", counted(size, "scale")))
        .help("set `axis` to the channel axis")
}

fn double(cx: &LintContext, node: NodeId, first: NodeId) -> Finding {
    let message = format!("`{}` quantizes a value again with the same scale", cx.node_name(node));
    cx.at_node(DOUBLE_QUANTIZATION, node, Part::Whole, message)
        .related(cx.places.node(first, Part::Whole), "first quantized here")
        .help("remove the second pair of QuantizeLinear and DequantizeLinear")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        let scales = scales(cx, node).filter_map(|input| Some((input, not_positive(cx, node, input)?)));
        sink.extend(scales.map(|(input, scale)| bad_scale(cx, id, input, scale)));
        if is_quantiser(node) {
            sink.extend(
                channels(cx, node).map(|(scales, axis, size)| bad_channels(cx, id, scales, axis, size)),
            );
            sink.extend(quantised_before(cx, node).map(|first| double(cx, id, first)));
        }
    }
}

fn is_quantiser(node: &Node) -> bool {
    matches!(node.domain(), "" | "com.microsoft")
        && matches!(&*node.op_type, "QuantizeLinear" | "DequantizeLinear")
}

/// Returns the positions of the inputs that are scales of a quantized tensor.
///
/// An input `NAME_scale` is a scale if the operator also has an input `NAME_zero_point`.
fn scales(cx: &LintContext, node: &Node) -> impl Iterator<Item = usize> {
    let opset = u16::try_from(cx.opset(node)).ok();
    let schema = opset.and_then(|opset| schema::lookup(node.domain(), &node.op_type, opset));
    let inputs = schema.map_or(&[][..], |schema| schema.inputs);
    let is_scale = |formal: &Formal| {
        let zero_point = formal.name.strip_suffix("_scale").map(|tensor| format!("{tensor}_zero_point"));
        zero_point.is_some_and(|name| inputs.iter().any(|input| input.name.eq_ignore_ascii_case(&name)))
    };
    inputs.iter().enumerate().filter(move |(_, formal)| is_scale(formal)).map(|(input, _)| input)
}

/// Returns a scale that is not a positive finite number.
fn not_positive(cx: &LintContext, node: &Node, input: usize) -> Option<f64> {
    let scales = cx.input(node, input).and_then(Fact::as_const)?.f64s().ok()?;
    scales.into_iter().find(|scale| !(scale.is_finite() && *scale > 0.0))
}

/// Returns the number of scales, the axis and its size, if the number differs from the size.
///
/// A single scale is valid for any size. Blocked quantization is not checked.
fn channels(cx: &LintContext, node: &Node) -> Option<(i64, i64, i64)> {
    let is_blocked = node.attr("block_size").and_then(|size| size.as_int()).unwrap_or(0) != 0;
    let [scales] = cx.input(node, 1)?.dims().filter(|_| !is_blocked)? else { return None };
    let scales = scales.as_ref()?.as_const().filter(|&scales| scales > 1)?;
    let dims = cx.input(node, 0)?.dims()?;
    let axis = node.attr("axis").and_then(|axis| axis.as_int()).unwrap_or(1);
    let place = if axis < 0 { axis + i64::try_from(dims.len()).ok()? } else { axis };
    let size = dims.get(usize::try_from(place).ok()?)?.as_ref()?.as_const()?;
    (size != scales).then_some((scales, axis, size))
}

/// Returns the QuantizeLinear whose dequantized output `node` quantizes again.
///
/// Returns `None` unless exactly one DequantizeLinear is between the two nodes, and all three nodes have
/// equal scales, zero points and axes.
fn quantised_before(cx: &LintContext, node: &Node) -> Option<NodeId> {
    let maker = |value: ValueId, op: &str| {
        let (id, _) = cx.model.producer(value)?;
        (&*cx.model.nodes[id].op_type == op).then_some(id)
    };
    if &*node.op_type != "QuantizeLinear" {
        return None;
    }
    let dequantised = maker(node.input(0)?, "DequantizeLinear")?;
    let first = maker(cx.model.nodes[dequantised].input(0)?, "QuantizeLinear")?;
    let same = |other: NodeId| {
        let other = &cx.model.nodes[other];
        [1, 2].into_iter().all(|input| same_constant(cx, node.input(input), other.input(input)))
            && node.attr("axis") == other.attr("axis")
    };
    (same(dequantised) && same(first)).then_some(first)
}

fn same_constant(cx: &LintContext, a: Option<ValueId>, b: Option<ValueId>) -> bool {
    let constant = |value: Option<ValueId>| value.and_then(|value| cx.facts[value].as_const());
    a == b || constant(a).is_some_and(|a| constant(b).is_some_and(|b| a == b))
}
