//! IDX005: a shape that depends on the data.

use super::Detector;
use crate::diag::rule_ids::BOOLEAN_MASK;
use crate::diag::{Finding, Sink};
use crate::graph::NodeId;
use crate::infer::Fact;
use crate::lint::LintContext;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[BOOLEAN_MASK], run };

fn mask(cx: &LintContext, node: NodeId) -> Finding {
    let name = cx.model.nodes[node].input(0).map_or("", |value| cx.name(value));
    let message =
        format!("how many elements come out of `{}` depends on the data in `{name}`", cx.node_name(node));
    cx.at_node(BOOLEAN_MASK, node, Part::Op, message)
        .label("a size that no runtime can plan for")
        .note("TensorRT and most accelerators take no such shapes, or only with a bound")
        .help("use torch.where(mask, x, 0) where the result is summed, averaged or written back")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        let is_constant = cx.input(node, 0).is_some_and(Fact::is_const);
        if node.is("NonZero") && !is_constant {
            sink.push(mask(cx, id));
        }
    }
}
