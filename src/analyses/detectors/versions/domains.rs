//! OPS002 to OPS004: operators of unknown domains, Python functions, and unconverted PyTorch operators.
//!
//! A custom domain is only a warning, because a deployment can register its operators. An operator that no
//! inference runtime supports is an error: a Python function, or a PyTorch operator that the exporter did
//! not convert.

use indexmap::IndexMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{ATEN_FALLBACK, PYTHON_OP, UNKNOWN_DOMAIN};
use crate::diag::{Finding, Sink};
use crate::graph::{Node, NodeId};
use crate::schema;

/// Detector of OPS002, OPS003 and OPS004.
pub const DETECTOR: Detector = Detector { rules: &[UNKNOWN_DOMAIN, PYTHON_OP, ATEN_FALLBACK], run };

/// Runtime domains with operators that the schema table lacks.
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

/// Domains of PyTorch operators that the exporter did not convert.
const ATEN_DOMAINS: [&str; 3] = ["org.pytorch.aten", "aten", "org.pytorch._caffe2"];

fn unknown_domain(cx: &LintContext, node: NodeId, domain: &str, ops: &[&str]) -> Finding {
    let message = match ops {
        [op] => format!("`{op}` belongs to the unknown domain `{domain}`"),
        _ => format!("{} operators belong to the unknown domain `{domain}`", ops.len()),
    };
    let finding = cx
        .at_node(UNKNOWN_DOMAIN, node, Part::Op, message)
        .label("neither a schema nor a function of the model defines it")
        .help("register its operators with the runtime, or define them as functions of the model");
    if ops.len() > 1 { finding.note(format!("operators: {}", ops.join(", "))) } else { finding }
}

fn python_op(cx: &LintContext, node: NodeId) -> Finding {
    let name = cx.model.nodes[node].attr("name").and_then(|name| name.as_str().map(str::to_owned));
    let called = name.map_or(String::new(), |name| format!(" `{name}`"));
    let message = format!(
        "`{}` calls the Python function{called}, which no inference runtime supports",
        cx.node_name(node)
    );
    cx.at_node(PYTHON_OP, node, Part::Op, message)
        .label("unconverted Python call")
        .help("give the `torch.autograd.Function` a `symbolic` method, or write its `forward` with supported operators")
}

fn aten_fallback(cx: &LintContext, node: NodeId) -> Finding {
    let op = cx.model.nodes[node].attr("operator").and_then(|op| op.as_str().map(str::to_owned));
    let op = op.unwrap_or_else(|| cx.model.nodes[node].op_type.to_string());
    let message = format!(
        "the exporter did not convert PyTorch's operator `{op}`, which no inference runtime supports"
    );
    cx.at_node(ATEN_FALLBACK, node, Part::Op, message)
        .label("ATen fallback")
        .help("export without ATen fallback, at a newer opset, or with torch.export")
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

/// Whether a node is a `prim::PythonOp`, in any spelling of the exporters.
fn is_python(node: &Node) -> bool {
    matches!(&*node.op_type, "PythonOp" | "prim::PythonOp")
}

fn is_unknown(cx: &LintContext, id: NodeId, node: &Node) -> bool {
    let domain = node.domain();
    !domain.is_empty()
        && schema::domain(domain).is_none()
        && !RUNTIME_DOMAINS.contains(&domain)
        // SPC027 reports a missing import.
        && cx.model.opset(node.graph, domain).is_some()
        && cx.model.callee(id).is_none()
}
