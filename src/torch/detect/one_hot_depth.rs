//! EXP013: `one_hot` without the number of classes.

use crate::diag::Finding;
use crate::diag::rule_ids::ONE_HOT_DEPTH;
use crate::torch::context::Context;

/// Reports `F.one_hot(labels)`, which derives the number of classes from the data.
///
/// The tracing exporter writes the default `-1` as the depth, which ONNX does not allow.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        let name = match (&*node.op.namespace, &*node.op.name) {
            ("aten", "one_hot") => "num_classes",
            ("onnx", "OneHot") => "depth",
            _ => continue,
        };
        let depth = trace.argument(node, 1, name).map(|argument| trace.int(argument));
        // A `torch.export` program omits arguments with default values, here -1.
        let depth = match depth {
            None => -1,
            Some(Some(depth)) => depth,
            Some(None) => continue,
        };
        if depth <= 0 {
            out.push(
                context
                    .finding(
                        ONE_HOT_DEPTH,
                        id,
                        format!("the number of classes of `one_hot` is {depth}: it is derived from the data"),
                    )
                    .label("no number of classes")
                    .note("ONNX uses the depth as is: the exported model fails at run time")
                    .help("pass the number of classes: `F.one_hot(labels, num_classes=n)`"),
            );
        }
    }
}
