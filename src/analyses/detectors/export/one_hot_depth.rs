//! EXP013: OneHot nodes with a number of classes below 1.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::ONE_HOT_DEPTH;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::NodeId;
use crate::infer::Fact;

/// Detector of EXP013.
pub const DETECTOR: Detector = Detector { rules: &[ONE_HOT_DEPTH], run };

fn bad_depth(cx: &LintContext, node: NodeId, depth: f64) -> Finding {
    let message = format!("the number of classes of `{}` is {depth}, so every run fails", cx.node_name(node));
    let finding = cx
        .at_node(ONE_HOT_DEPTH, node, Part::Input(1), message)
        .help("pass num_classes: F.one_hot(labels, num_classes=10)");
    if depth == -1.0 {
        finding
            .label("default of F.one_hot: PyTorch infers the number from the labels")
            .fix(Applicability::Unsafe, "computes the number of classes: the greatest label plus 1")
    } else {
        finding.label("must be positive")
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        if node.is("OneHot") {
            let depth = cx.input(node, 1).and_then(Fact::as_const).and_then(|depth| depth.f64s().ok());
            let bad = depth.and_then(|depth| depth.first().copied()).filter(|depth| *depth < 1.0);
            sink.extend(bad.map(|depth| bad_depth(cx, id, depth)));
        }
    }
}
