//! IDX005: data-dependent shapes.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::BOOLEAN_MASK;
use crate::diag::{Finding, Sink};
use crate::graph::NodeId;
use crate::infer::Fact;

/// Detector of IDX005.
pub const DETECTOR: Detector = Detector { rules: &[BOOLEAN_MASK], run };

fn mask(cx: &LintContext, node: NodeId) -> Finding {
    let name = cx.model.nodes[node].input(0).map_or("", |value| cx.name(value));
    let message = format!("the output size of `{}` depends on the data in `{name}`", cx.node_name(node));
    cx.at_node(BOOLEAN_MASK, node, Part::Op, message)
        .label("no runtime can plan memory for this size")
        .note("TensorRT and most accelerators do not support data-dependent shapes, or only with a bound")
        .help("if the elements are only summed or overwritten, use torch.where instead of the mask")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        let is_constant = cx.input(node, 0).is_some_and(Fact::is_const);
        if node.is("NonZero") && !is_constant {
            sink.push(mask(cx, id));
        }
    }
}
