//! OPS001, OPS003, OPS004: operators that the exporters do not support.

use indexmap::IndexMap;

use crate::diag::rule_ids::{ATEN_FALLBACK, PYTHON_OP, UNSUPPORTED_OP};
use crate::diag::{Finding, Level};
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::op::Op;
use crate::torch::support::{Support, support};
use crate::torch::trace::{Node, NodeId, Origin};

/// Maximum number of further uses listed in one finding.
const MAX_RELATED: usize = 8;

/// Reports one finding for each unsupported operator, at its first use.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    let mut uses: IndexMap<&Op, Vec<NodeId>> = IndexMap::new();
    for (id, node) in trace.nodes() {
        uses.entry(&node.op).or_default().push(id);
    }
    for ids in uses.into_values() {
        let Some((&id, others)) = ids.split_first() else { continue };
        let node = trace.node(id);
        let finding = match trace.origin {
            _ if node.op.is("prim", "PythonOp") => Some(python_op(context, id, node)),
            Origin::OnnxDialect => fallback(context, id, node),
            Origin::TorchScript | Origin::Export => unsupported(context, id, node),
        };
        out.extend(finding.map(|finding| {
            let others = others.iter().take(MAX_RELATED);
            others.fold(finding, |finding, &other| finding.related(context.place(other), "and here"))
        }));
    }
}

fn unsupported(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let op = &node.op;
    Some(match support(op) {
        Support::Supported => return None,
        Support::Nowhere => context
            .finding(UNSUPPORTED_OP, id, format!("`{op}` is not supported by either exporter"))
            .label("no ONNX equivalent")
            .help("replace the operator by supported ones, or give the exporter a translation (`custom_translation_table=`)"),
        Support::NotByTracing { instead } if context.trace.origin == Origin::TorchScript => context
            .finding(UNSUPPORTED_OP.at(Level::Warning), id, format!("`{op}` is not supported by the tracing exporter"))
            .label("fails with `dynamo=False`")
            .help(instead),
        Support::NotByTracing { .. } => return None,
        Support::Custom => context
            .finding(UNSUPPORTED_OP.at(Level::Warning), id, format!("`{op}` is a custom operator without an ONNX equivalent"))
            .label("a custom operator")
            .note("without a translation, the export fails; a translation to a custom operator requires a kernel in the runtime")
            .help("register a translation: `custom_translation_table=` with `dynamo=True`, `register_custom_op_symbolic` without"),
    })
}

/// Reports a `torch.autograd.Function`.
/// Since PyTorch 2.0, the tracer also records the `forward` of the function, which the exporter inlines.
fn python_op(context: &Context, id: NodeId, node: &Node) -> Finding {
    let has_body = node.attributes.iter().any(|(name, _)| &**name == "Subgraph") || !node.blocks.is_empty();
    let (level, note) = if has_body {
        (Level::Info, "`forward` was recorded too: the exporter inlines it, and the custom gradient is lost")
    } else {
        (Level::Error, "only the name of the function was recorded: the exporter cannot convert the call")
    };
    let name = match node.attributes.iter().find(|(key, _)| &**key == "name") {
        Some((_, Argument::Str(name))) => name.to_string(),
        _ => node.op.to_string(),
    };
    context
        .finding(PYTHON_OP.at(level), id, format!("`{name}` is a Python function in the graph"))
        .label("an autograd.Function")
        .note(note)
        .help("call the torch operators in the module directly, or give the Function a static `symbolic` method")
}

/// Reports PyTorch operators in a graph of the ONNX exporter: it could not convert them.
fn fallback(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let is_fallback = matches!(&*node.op.namespace, "aten" | "org.pytorch.aten") && context.trace.complete;
    is_fallback.then(|| {
        context
            .finding(ATEN_FALLBACK, id, format!("`{}` was not converted to ONNX", node.op))
            .label("no ONNX operator")
            .note("`operator_export_type` let the exporter fall back to PyTorch's operator, which released runtimes do not support")
            .help("export with the default `operator_export_type`, and replace the operators that it reports as unsupported")
    })
}
