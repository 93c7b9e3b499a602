//! Findings for constructs that cannot be converted to ONNX, at their Python line.

use std::sync::Arc;

use super::autocast;
use super::imported::Imported;
use super::lower::Left;
use super::refusal;
use crate::diag::finding::Anchor;
use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::torch::{Node, NodeId, Op, Trace};

/// Reports that a program writes into one of its inputs.
pub fn written_input(name: &str) -> Finding {
    let message = format!("the program mutates its input `{name}`; the model does not");
    rule_ids::INPUT_WRITTEN
        .finding(message, Place::File)
        .help("outputs are unaffected; return the mutated input if callers need it")
}

/// Reports that a program as a whole cannot be converted.
pub fn program(why: &str) -> Finding {
    rule_ids::NOT_CONVERTIBLE.finding(format!("the program is not supported: {why}"), Place::File)
}

/// Reports that a node of the trace cannot be converted.
pub fn at(trace: &Trace, id: NodeId, why: &str) -> Finding {
    let node = trace.node(id);
    let place = node.source.clone().map_or(Place::File, Place::Source);
    let mut finding =
        rule_ids::NOT_CONVERTIBLE.finding(format!("`{}` is not supported: {why}", node.op), place);
    finding.anchor = Anchor { module: node.scope.clone(), op: Arc::from(node.op.to_string()) };
    finding.help(autocast::advice(why).map_or_else(|| instead(trace, node), str::to_owned))
}

/// Reports that a region of `torch.vmap` cannot be converted.
pub fn region(trace: &Trace, nodes: &[NodeId], why: &str) -> Finding {
    let source = nodes.iter().find_map(|&id| trace.node(id).source.clone());
    let message = format!("`torch.vmap` is not supported: {why}");
    let mut finding = rule_ids::NOT_CONVERTIBLE.finding(message, source.map_or(Place::File, Place::Source));
    let module = nodes.first().map_or(Arc::from(""), |&id| trace.node(id).scope.clone());
    finding.anchor = Anchor { module, op: Arc::from("torch.vmap") };
    finding.help("apply the function to the whole batch instead of to each sample")
}

/// Advice for an operator without alternatives.
const OTHER_OPERATOR: &str =
    "replace the operator by supported ones, or supply a lowering rule with `--rules`";

/// Operators that PyTorch offers only in place.
const ONLY_IN_PLACE: [&str; 10] = [
    "bernoulli",
    "cauchy",
    "copy",
    "exponential",
    "geometric",
    "log_normal",
    "normal",
    "random",
    "uniform",
    "zero",
];

/// Returns the help text for a node whose effects cannot be converted.
fn instead(trace: &Trace, node: &Node) -> String {
    let op = &node.op;
    match op.in_place_of() {
        None if trains(trace, node) => {
            "call `.eval()` before exporting: updates of running statistics are not supported".to_owned()
        }
        Some(functional) if ONLY_IN_PLACE.contains(&functional) => "write into a `clone()`".to_owned(),
        Some(functional) if !functional.starts_with('_') && !functional.ends_with("set") => {
            format!("use the out-of-place `{functional}`, or write into a `clone()`")
        }
        _ if &*op.namespace == "prim" && matches!(&*op.name, "If" | "Loop") => {
            "remove the Python control flow, or convert a traced or `torch.export` program, which has none"
                .to_owned()
        }
        _ => other_operator(op),
    }
}

/// Returns the help text for an operator that no rule lowers.
fn other_operator(op: &Op) -> String {
    match op.aten().is_some() || &*op.namespace == "prim" {
        true => OTHER_OPERATOR.to_owned(),
        false => format!("supply a lowering rule for `{op}` with `--rules`"),
    }
}

/// Returns true if a node is a normalization in training mode.
fn trains(trace: &Trace, node: &Node) -> bool {
    let flags = ["training", "use_input_stats"];
    let mut given =
        node.inputs.iter().filter(|input| input.name.as_deref().is_some_and(|name| flags.contains(&name)));
    given.any(|flag| trace.bool(&flag.argument) != Some(false))
}

/// Returns the findings about nodes that no rule lowers: one for each operator, line and cause.
pub fn findings(imported: &Imported, trace: &Trace, left: &[Left]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut causes = Vec::new();
    for one in left {
        let origin = imported.origins.get(&one.node).copied();
        let node = origin.map(|origin| trace.node(origin));
        let cause = (node.map(|node| (&node.op, &node.source)), &one.reason);
        if causes.contains(&cause) {
            continue;
        }
        causes.push(cause);
        let why = match node {
            Some(node) if one.has_rule => {
                format!("no lowering rule accepts these arguments: {}", refusal::arguments(trace, node))
            }
            _ => "it has no ONNX lowering".to_owned(),
        };
        let mut finding = match origin {
            Some(origin) => at(trace, origin, &why),
            None => program(&why),
        };
        let other = node.map(|node| other_operator(&node.op));
        finding.help = one.advice.map(str::to_owned).or(other).or(finding.help);
        if let Some(reason) = &one.reason {
            finding = finding.note(reason.note());
        }
        findings.push(finding);
    }
    findings
}
