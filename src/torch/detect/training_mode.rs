//! EXP010: dropout, batch normalization and other layers exported in training mode.

use crate::diag::Finding;
use crate::diag::rule_ids::TRAINING_MODE;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Trace};

/// Maximum number of further nodes listed in one finding.
const MAX_RELATED: usize = 8;

/// Reports one finding for each graph, because a single `model.eval()` fixes most layers.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    let training: Vec<(NodeId, &str)> =
        trace.nodes().filter_map(|(id, node)| Some((id, effect(trace, node)?))).collect();
    let Some(&(first, what)) = training.first() else { return };
    let (op, others) = (&trace.node(first).op, training.len() - 1);
    let more = match others {
        0 => String::new(),
        1 => ", as does one more layer".to_owned(),
        _ => format!(", as do {others} more layers"),
    };
    let help = match op.aten() {
        Some("scaled_dot_product_attention") => {
            "pass `dropout_p=p if self.training else 0.0`, and call `model.eval()` before exporting"
        }
        _ => {
            "call `model.eval()` before exporting, and keep the default of `training=` in `torch.onnx.export`; \
             `F.dropout(x)` is active unless it is called with `training=self.training`"
        }
    };
    let mut finding = context
        .finding(TRAINING_MODE, first, format!("`{op}` runs in training mode{more}"))
        .label(what)
        .note("the results differ from those in evaluation mode, and between calls or batches")
        .help(help);
    for &(id, what) in training.iter().skip(1).take(MAX_RELATED) {
        finding = finding.related(context.place(id), what);
    }
    out.push(finding);
}

/// Returns the effect of training mode on a node, if it is active.
///
/// Layers that use batch statistics by design (`track_running_stats=False`) have no running statistics, and
/// are ignored.
fn effect(trace: &Trace, node: &Node) -> Option<&'static str> {
    const DROPS: &str = "drops elements at random";
    const NORMALIZES: &str = "normalizes with batch statistics";
    let flag =
        |position, name| trace.argument(node, position, name).and_then(|it| trace.bool(it)) == Some(true);
    let rate = |position, name| trace.argument(node, position, name).and_then(|it| float(trace, it));
    let drops = |position, name| rate(position, name).is_none_or(|rate| rate > 0.0);
    let given = |position, name| {
        !matches!(trace.argument(node, position, name).map(|it| trace.see(it)), None | Some(Argument::None))
    };
    match (&*node.op.namespace, node.op.in_place_of().unwrap_or(&node.op.name)) {
        (
            "aten",
            "dropout" | "feature_dropout" | "alpha_dropout" | "feature_alpha_dropout" | "native_dropout",
        ) => (flag(2, "train") && drops(1, "p")).then_some(DROPS),
        ("aten", "batch_norm" | "native_batch_norm" | "cudnn_batch_norm" | "miopen_batch_norm") => {
            (flag(5, "training") && given(3, "running_mean")).then_some(NORMALIZES)
        }
        ("aten", "_native_batch_norm_legit_functional" | "_native_batch_norm_legit") => {
            (flag(5, "training") && given(3, "running_mean")).then_some(NORMALIZES)
        }
        ("aten", "lstm" | "gru" | "rnn_tanh" | "rnn_relu") => (flag(6, "train")
            && rate(5, "dropout").is_some_and(|rate| rate > 0.0))
        .then_some("drops elements between its layers"),
        ("aten", "scaled_dot_product_attention") => {
            rate(4, "dropout_p").is_some_and(|rate| rate > 0.0).then_some("drops attention weights at random")
        }
        ("aten", "rrelu") => flag(3, "training").then_some("draws its slope at random"),
        ("onnx", "Dropout") => (flag(2, "training_mode") && drops(1, "ratio")).then_some(DROPS),
        ("onnx", "BatchNormalization") => {
            let mode = node.attributes.iter().find(|(name, _)| &**name == "training_mode")?;
            (trace.int(&mode.1) == Some(1)).then_some(NORMALIZES)
        }
        _ => None,
    }
}

fn float(trace: &Trace, argument: &Argument) -> Option<f64> {
    match trace.see(argument) {
        Argument::Float(float) => Some(*float),
        Argument::Int(int) => Some(*int as f64),
        Argument::Tensor(tensor) => tensor.elements.as_ref()?.first().copied(),
        _ => None,
    }
}
