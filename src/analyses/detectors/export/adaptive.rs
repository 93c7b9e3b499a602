//! EXP001 for adaptive pooling that was exported with the window of the traced size.

use super::Detector;
use super::dynamic_dims::DynamicDims;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::Dim;
use crate::graph::{Node, NodeId};

/// Detector of EXP001.
pub const DETECTOR: Detector = Detector { rules: &[BAKED_SHAPE], run };

/// Names of adaptive pooling in stack traces, node names and module classes, in lower case.
const NAMES: [&str; 4] = ["adaptive_avg_pool", "adaptive_max_pool", "adaptiveavgpool", "adaptivemaxpool"];

/// Returns true if the exporter recorded that a node belongs to an adaptive pooling.
fn is_adaptive(cx: &LintContext, id: NodeId, node: &Node) -> bool {
    let names = |text: &str| {
        let text = text.to_ascii_lowercase();
        NAMES.iter().any(|name| text.contains(name))
    };
    let code = cx.places.source(id).and_then(|source| source.code);
    node.name.as_deref().is_some_and(names)
        || node.metadata.iter().any(|(_, text)| names(text))
        || node.doc.as_deref().is_some_and(names)
        || code.as_deref().is_some_and(names)
}

fn baked_window(cx: &LintContext, free: &DynamicDims, id: NodeId, node: &Node) -> Option<Finding> {
    let kernel = node.attr("kernel_shape")?.as_ints()?;
    let sizes = cx.input(node, 0)?.dims()?.get(2..)?;
    let dynamic = sizes.iter().flatten().filter(|size| size.as_const().is_none());
    let (size, origin) = dynamic
        .filter_map(|size| Some((size, free.lost(size, &Dim::known(0))?)))
        .find(|(_, origin)| origin.named)?;
    let kernel: Vec<String> = kernel.iter().map(i64::to_string).collect();
    let message = format!(
        "`{}` fixes the window of an adaptive pooling at {}, but `{size}` is dynamic in input `{}`",
        node.op_type,
        kernel.join("x"),
        cx.name(origin.input)
    );
    let finding = cx.at_node(BAKED_SHAPE.at(Level::Warning), id, Part::Whole, message);
    Some(
        finding
            .label("the window of the traced size: other input sizes lead to a wrong output size")
            .related(cx.places.declaration(origin.input), format!("axis {} is dynamic", origin.axis))
            .help("pool to size 1, or use F.interpolate; or declare the axis static"),
    )
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let free = DynamicDims::new(cx.model, cx.facts);
    if free.is_empty() {
        return;
    }
    let pools = cx.nodes().filter(|(_, node)| node.is("AveragePool") || node.is("MaxPool"));
    let adaptive = pools.filter(|(id, node)| is_adaptive(cx, *id, node));
    sink.extend(adaptive.filter_map(|(id, node)| baked_window(cx, &free, id, node)));
}
