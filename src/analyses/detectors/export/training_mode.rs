//! EXP010: layers in training mode.

use std::cell::OnceCell;

use super::Detector;
use super::reachability::Reach;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::TRAINING_MODE;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::{Node, NodeId};
use crate::infer::Fact;

/// Detector of EXP010.
pub const DETECTOR: Detector = Detector { rules: &[TRAINING_MODE], run };

/// Opset since which Dropout has its mode and ratio as inputs.
const DROPOUT_WITH_MODE: i64 = 12;
/// Opset since which BatchNormalization has an attribute for its mode.
const BATCH_NORM_WITH_MODE: i64 = 14;
/// Metadata key of the call that a node was exported from, written by PyTorch's exporter.
const FX_NODE: &str = "pkg.torch.onnx.fx_node";
/// Opset since which Dropout and BatchNormalization have no `is_test`.
const WITHOUT_IS_TEST: i64 = 7;

fn dropout(cx: &LintContext, node: NodeId, part: Part) -> Finding {
    let message =
        format!("Dropout `{}` is in training mode: it sets random elements to 0", cx.node_name(node));
    training(cx, node, part, message, "results differ between runs", "passes its input through unchanged")
}

fn batch_norm(cx: &LintContext, node: NodeId, part: Part) -> Finding {
    let message = format!(
        "BatchNormalization `{}` is in training mode: it uses batch statistics, not the running statistics",
        cx.node_name(node)
    );
    training(
        cx,
        node,
        part,
        message,
        "the result of a row depends on the other rows",
        "normalizes with the running mean and variance",
    )
}

/// Creates the finding of a BatchNormalization that lost its training mode.
///
/// The `torch.export`-based exporter loses the training mode.
fn lost_training(cx: &LintContext, node: NodeId) -> Finding {
    let message = format!(
        "BatchNormalization `{}` uses the running statistics, but the exported program was in training mode",
        cx.node_name(node)
    );
    cx.at_node(TRAINING_MODE, node, Part::Whole, message)
        .label("PyTorch uses batch statistics here")
        .help("call `model.eval()` before the export, and keep `training=` at its default")
}

/// Whether a node was exported from a batch normalization in training mode.
///
/// The recorded call is, for example,
/// `torch.ops.aten._native_batch_norm_legit_functional.default](args = (%x, %w, %b, %mean, %var, True, 0.1, 1e-05)`.
fn trained_in_program(node: &Node) -> bool {
    let arguments = node
        .metadata(FX_NODE)
        .and_then(|text| text.split_once("_native_batch_norm_legit_functional.default](args = ("));
    arguments.is_some_and(|(_, arguments)| arguments.split(", ").nth(5) == Some("True"))
}

fn training(cx: &LintContext, node: NodeId, part: Part, message: String, label: &str, fix: &str) -> Finding {
    cx.at_node(TRAINING_MODE, node, part, message)
        .label(label)
        .help("call `model.eval()` before the export, and keep `training=` at its default")
        .fix(Applicability::Unsafe, fix)
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let reach = OnceCell::new();
    // Weight standardization normalizes weights by their own mean, even in inference.
    let is_of_data = |node: &Node| {
        let reach = reach.get_or_init(|| Reach::new(cx.model));
        node.input(0).is_none_or(|x| reach.depends_on_inputs(x))
    };
    for (id, node) in cx.nodes().filter(|(_, node)| node.domain().is_empty()) {
        let opset = cx.opset(node);
        let found = match &*node.op_type {
            "Dropout" if is_training_dropout(cx, node, opset) => {
                Some(dropout(cx, id, mode_of_dropout(opset)))
            }
            "BatchNormalization"
                if is_training_batch_norm(node, opset) && is_of_data(node) && !trains(cx, node) =>
            {
                let part =
                    if opset >= BATCH_NORM_WITH_MODE { Part::Attr("training_mode") } else { Part::Whole };
                Some(batch_norm(cx, id, part))
            }
            "BatchNormalization" if trained_in_program(node) && is_of_data(node) => {
                Some(lost_training(cx, id))
            }
            _ => None,
        };
        sink.extend(found);
    }
}

fn mode_of_dropout(opset: i64) -> Part<'static> {
    if opset >= DROPOUT_WITH_MODE { Part::Input(2) } else { Part::Whole }
}

/// Whether a Dropout is in training mode.
///
/// In opsets 7 to 11, which have neither `is_test` nor a mode input, Dropout has no effect.
fn is_training_dropout(cx: &LintContext, node: &Node, opset: i64) -> bool {
    if opset < WITHOUT_IS_TEST {
        return !is_test(node);
    }
    let first = |input: usize| {
        let array = cx.input(node, input).and_then(Fact::as_const)?;
        array.as_bools().ok().map(<[bool]>::to_vec)
    };
    let is_on = first(2).is_some_and(|mode| mode == [true]);
    let drops_nothing = cx
        .input(node, 1)
        .and_then(Fact::as_const)
        .is_some_and(|ratio| ratio.f64s().is_ok_and(|r| r == [0.0]));
    opset >= DROPOUT_WITH_MODE && is_on && !drops_nothing
}

/// Whether a BatchNormalization is in training mode.
///
/// In opsets 7 to 13, the use of an optional output enables training mode.
fn is_training_batch_norm(node: &Node, opset: i64) -> bool {
    match opset {
        ..WITHOUT_IS_TEST => !is_test(node),
        WITHOUT_IS_TEST..BATCH_NORM_WITH_MODE => node.outputs.iter().skip(1).any(Option::is_some),
        _ => node.attr("training_mode").and_then(|mode| mode.as_int()) == Some(1),
    }
}

/// Whether a model is meant to be trained: it uses the statistics that a BatchNormalization computes.
fn trains(cx: &LintContext, node: &Node) -> bool {
    node.outputs.iter().skip(1).flatten().any(|&output| cx.uses.count(output) > 0)
}

fn is_test(node: &Node) -> bool {
    node.attr("is_test").and_then(|test| test.as_int()).unwrap_or(0) != 0
}
