//! OPV009: local functions whose nodes are of another opset than the model.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::analyses::repairs::{OtherOpset, functions_of_other_opset};
use crate::diag::rule_ids::FUNCTION_OPSET;
use crate::diag::{Applicability, Finding, Level, Sink};

/// Detector of OPV009.
pub const DETECTOR: Detector = Detector { rules: &[FUNCTION_OPSET], run };

fn finding(cx: &LintContext, found: &OtherOpset) -> Finding {
    let name = cx.model.functions[found.function].name.as_deref().unwrap_or("");
    let op = cx.model.nodes[found.node].op_name();
    let message = format!(
        "function `{name}` imports opset {}, but the model imports opset {}, in which `{op}` differs",
        found.own, found.model
    );
    let rule = if found.is_refused { FUNCTION_OPSET } else { FUNCTION_OPSET.at(Level::Warning) };
    cx.at_node(rule, found.node, Part::Op, message)
        .note("ONNX Runtime checks the nodes of functions against the opset of the model")
        .help("export the functions and the model at one opset")
        .fix(Applicability::Safe, "converts the function")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    sink.extend(functions_of_other_opset(cx.model).iter().map(|found| finding(cx, found)));
}
