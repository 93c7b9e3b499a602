//! OPV005 and OPV007: versions that do not go together, and models that were relabelled.

use super::Detector;
use crate::diag::rule_ids::{IR_VERSION_MISMATCH, RESIZE_SEMANTICS_CHANGED};
use crate::diag::{Finding, Place, Sink};
use crate::graph::{Node, NodeId};
use crate::lint::LintContext;
use crate::lint::locate::Part;
use crate::schema;

pub const DETECTOR: Detector = Detector { rules: &[IR_VERSION_MISMATCH, RESIZE_SEMANTICS_CHANGED], run };

/// From this opset on, the second input of Resize is a region of interest, not the scales.
const RESIZE_WITH_ROI: i64 = 11;

fn ir_older_than_opset(ir_version: i64, opset: i64, first: i64) -> Finding {
    let message = format!(
        "IR version {ir_version} and opset {opset} do not go together: that opset came with IR version {first}"
    );
    IR_VERSION_MISMATCH
        .finding(message, Place::File)
        .note("a reader that goes by the IR version does not expect what the opset brought")
        .help(format!("set `ir_version` to {first}, or convert the model down"))
}

fn relabelled_resize(cx: &LintContext, node: NodeId, opset: i64) -> Finding {
    let message = format!(
        "`{}` has the inputs of `Resize` at opset 10, but the model is at opset {opset}",
        cx.node_name(node)
    );
    cx.at_node(RESIZE_SEMANTICS_CHANGED, node, Part::Input(1), message)
        .label(format!("read as `roi` at opset {opset}; it was `scales` at opset 10"))
        .note("coordinates changed too: asymmetric then, half_pixel by default since opset 11")
        .help("set the opset back to 10, and let onnx-fix convert the model")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let opset = cx.model.opset(cx.model.main, "");
    if let (Some(ir_version), Some(opset)) = (cx.model.ir_version, opset) {
        let release = u16::try_from(opset).ok().and_then(schema::release);
        let first = release.map(|release| release.ir_version).filter(|&first| first > ir_version);
        sink.extend(first.map(|first| ir_older_than_opset(ir_version, opset, first)));
    }
    for (id, node) in cx.nodes() {
        let opset = cx.opset(node);
        if node.is("Resize") && opset >= RESIZE_WITH_ROI && is_old_form(node) {
            sink.push(relabelled_resize(cx, id, opset));
        }
    }
}

/// Two inputs, neither of which says how large the result is to be.
fn is_old_form(node: &Node) -> bool {
    node.input(1).is_some() && node.input(2).is_none() && node.input(3).is_none()
}
