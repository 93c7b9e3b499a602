//! OPV005 and OPV007: IR versions older than the opset, and Resize nodes with the inputs of opset 10.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::analyses::repairs::converted;
use crate::diag::rule_ids::{IR_VERSION_MISMATCH, RESIZE_SEMANTICS_CHANGED};
use crate::diag::{Applicability, Finding, Level, Place, Sink};
use crate::graph::{Node, NodeId};
use crate::schema;

/// Detector of OPV005 and OPV007.
pub const DETECTOR: Detector = Detector { rules: &[IR_VERSION_MISMATCH, RESIZE_SEMANTICS_CHANGED], run };

fn ir_older_than_opset(ir_version: i64, opset: i64, first: i64) -> Finding {
    let message =
        format!("IR version {ir_version} is older than opset {opset}, which requires IR version {first}");
    IR_VERSION_MISMATCH
        .finding(message, Place::File)
        .note("readers of this IR version may not support features of the opset")
        .help(format!("set `ir_version` to {first}, or convert the model to an older opset"))
}

fn relabelled_resize(cx: &LintContext, node: NodeId, opset: i64) -> Finding {
    let message = format!(
        "`{}` has the inputs of `Resize` at opset 10, but the model imports opset {opset}",
        cx.node_name(node)
    );
    let finding = cx
        .at_node(RESIZE_SEMANTICS_CHANGED, node, Part::Input(1), message)
        .label(format!("read as `roi` at opset {opset}; it was `scales` at opset 10"))
        .note("the default coordinates changed, too: from asymmetric to half_pixel since opset 11")
        .help("set the opset back to 10, then convert the model with onnx-fix --opset");
    // Runtimes reject a model with a two-input Resize after opset 10, so the level is error.
    let finding = Finding { level: Level::Error, ..finding };
    match converted(cx, node) {
        Some(_) => finding.fix(Applicability::Safe, format!("converts the node to opset {opset}")),
        None => finding,
    }
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
        if node.is("Resize") && is_old_form(node, opset) {
            sink.push(relabelled_resize(cx, id, opset));
        }
    }
}

/// Whether a Resize has two inputs, without the scales or sizes of opset 11.
fn is_old_form(node: &Node, opset: i64) -> bool {
    let is_old = |opset| schema::with_use(node, |_| None, |op| schema::is_resize_without_roi(op, opset));
    u16::try_from(opset).is_ok_and(is_old)
}
