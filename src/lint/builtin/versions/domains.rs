//! OPS002 to OPS004: operators of domains that nobody defines.
//!
//! A custom domain is no fault in itself: whoever deploys the model may bring its operators along. So it
//! is an error only where the domain tells that nobody can: what stands in it is Python, or an operator of
//! PyTorch that the exporter had no translation for.

use indexmap::IndexMap;

use super::Detector;
use crate::diag::rule_ids::{ATEN_FALLBACK, PYTHON_OP, UNKNOWN_DOMAIN};
use crate::diag::{Finding, Sink};
use crate::graph::{Node, NodeId};
use crate::lint::LintContext;
use crate::lint::locate::Part;
use crate::schema;

pub const DETECTOR: Detector = Detector { rules: &[UNKNOWN_DOMAIN, PYTHON_OP, ATEN_FALLBACK], run };

/// Domains of runtimes whose operators the schema table does not list, or not all.
const RUNTIME_DOMAINS: [&str; 9] = [
    "ai.onnx.contrib",
    "ai.onnx.preview.training",
    "ai.onnx.training",
    "com.microsoft.dml",
    "com.microsoft.experimental",
    "com.microsoft.extensions",
    "com.microsoft.nchwc",
    "com.ms.internal.nhwc",
    "trt.plugins",
];

/// Where PyTorch puts what it could not translate.
const ATEN_DOMAINS: [&str; 3] = ["org.pytorch.aten", "aten", "org.pytorch._caffe2"];

fn unknown_domain(cx: &LintContext, node: NodeId, domain: &str, ops: &[&str]) -> Finding {
    let message = match ops {
        [op] => format!("`{op}` is of the domain `{domain}`, which has no operators of that name here"),
        _ => format!("{} operators are of the domain `{domain}`, which is not known here", ops.len()),
    };
    let finding = cx
        .at_node(UNKNOWN_DOMAIN, node, Part::Op, message)
        .label("no schema, and no function of the model")
        .help("register its operators with the runtime, or keep them in the model as functions");
    if ops.len() > 1 { finding.note(format!("they are {}", ops.join(", "))) } else { finding }
}

fn python_op(cx: &LintContext, node: NodeId) -> Finding {
    let name = cx.model.nodes[node].attr("name").and_then(|name| name.as_str().map(str::to_owned));
    let called = name.map_or(String::new(), |name| format!(" `{name}`"));
    let message = format!("`{}` calls the Python function{called}, which no runtime has", cx.node_name(node));
    cx.at_node(PYTHON_OP, node, Part::Op, message)
        .label("the exporter left a call of Python")
        .help("give the `torch.autograd.Function` a `symbolic` method, or write its `forward` in operators")
}

fn aten_fallback(cx: &LintContext, node: NodeId) -> Finding {
    let op = cx.model.nodes[node].attr("operator").and_then(|op| op.as_str().map(str::to_owned));
    let op = op.unwrap_or_else(|| cx.model.nodes[node].op_type.to_string());
    let message = format!("PyTorch's operator `{op}` was left untranslated; no ONNX runtime has it");
    cx.at_node(ATEN_FALLBACK, node, Part::Op, message)
        .label("an ATen fallback")
        .help("export without an ATen fallback, at a newer opset, or with torch.export")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut unknown: IndexMap<&str, (NodeId, Vec<&str>)> = IndexMap::new();
    for (id, node) in cx.nodes() {
        if is_python(node) {
            sink.push(python_op(cx, id));
        } else if ATEN_DOMAINS.contains(&node.domain()) {
            sink.push(aten_fallback(cx, id));
        } else if is_unknown(cx, id, node) {
            let (_, ops) = unknown.entry(node.domain()).or_insert((id, Vec::new()));
            if !ops.contains(&&*node.op_type) {
                ops.push(&node.op_type);
            }
        }
    }
    sink.extend(unknown.iter().map(|(domain, (node, ops))| unknown_domain(cx, *node, domain, ops)));
}

/// `prim::PythonOp`, in the ways that exporters write it down.
fn is_python(node: &Node) -> bool {
    matches!(&*node.op_type, "PythonOp" | "prim::PythonOp")
}

fn is_unknown(cx: &LintContext, id: NodeId, node: &Node) -> bool {
    let domain = node.domain();
    !domain.is_empty()
        && schema::domain(domain).is_none()
        && !RUNTIME_DOMAINS.contains(&domain)
        // Without an import, that is what is said of it.
        && cx.model.opset(node.graph, domain).is_some()
        && cx.model.callee(id).is_none()
}
