//! What has no form in ONNX, at its line of Python.

use std::sync::Arc;

use super::graph::Imported;
use super::lower::Left;
use crate::diag::finding::Anchor;
use crate::diag::known;
use crate::diag::{Finding, Place};
use crate::torch::{NodeId, Op, Trace};

/// That a program writes into an input of its caller.
pub fn written_input(name: &str) -> Finding {
    let message = format!("the program writes into its input `{name}`; the model leaves it as it is");
    known::INPUT_WRITTEN
        .finding(message, Place::File)
        .help("what the model returns is right; who needs the changed input, too, has to return it")
}

/// That a program as a whole cannot be converted.
pub fn program(why: &str) -> Finding {
    known::NOT_CONVERTIBLE.finding(format!("the program has no form in ONNX: {why}"), Place::File)
}

/// That a node of the trace cannot be converted.
pub fn at(trace: &Trace, id: NodeId, why: &str) -> Finding {
    let node = trace.node(id);
    let place = node.source.clone().map_or(Place::File, Place::Source);
    let mut finding =
        known::NOT_CONVERTIBLE.finding(format!("`{}` has no form in ONNX: {why}", node.op), place);
    finding.anchor = Anchor { module: node.scope.clone(), op: Arc::from(node.op.to_string()) };
    finding.help(instead(&node.op))
}

/// What to write in the place of an operator.
fn instead(op: &Op) -> String {
    match (op.aten(), op.in_place_of()) {
        (Some("batch_norm" | "instance_norm"), _) => {
            "call `.eval()` before the export: by what it has learnt, it has a form".to_owned()
        }
        (_, Some(functional)) if !functional.starts_with('_') => {
            format!("use `{functional}`, which writes nothing, or write into a `clone()`")
        }
        (Some(_), _) => "say what it does by other operators, or bring a rule for it: `--rules`".to_owned(),
        (None, _) if &*op.namespace == "prim" => {
            "say it without: what is traced, or exported by `torch.export`, has no loops and branches of Python".to_owned()
        }
        (None, _) => format!("bring a rule for `{op}`: `--rules`"),
    }
}

/// One finding for each node that no rule has lowered.
pub fn findings(imported: &Imported, trace: &Trace, left: &[Left]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for one in left {
        let why = match one.has_rule {
            true => "not with these arguments and types",
            false => "no rule lowers it",
        };
        let finding = match imported.origins.get(&one.node) {
            Some(&origin) => at(trace, origin, why),
            None => program(why),
        };
        // One line often makes several nodes of a kind.
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}
