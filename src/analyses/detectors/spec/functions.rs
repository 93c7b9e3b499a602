//! Local functions: recursive calls, duplicate names, and unbound attribute references.

use indexmap::IndexMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{DUPLICATE_FUNCTION, RECURSIVE_FUNCTION, UNBOUND_ATTRIBUTE_REFERENCE};
use crate::diag::{Finding, Place, Sink};
use crate::graph::{AttrValue, Function, NodeId, normal_domain, scopes};

/// Detector of SPC021, SPC029 and SPC030.
pub const DETECTOR: Detector =
    Detector { rules: &[UNBOUND_ATTRIBUTE_REFERENCE, RECURSIVE_FUNCTION, DUPLICATE_FUNCTION], run };

fn recursive(cx: &LintContext, path: &[(usize, NodeId)]) -> Option<Finding> {
    let &(first, call) = path.first()?;
    let name = |index: usize| format!("`{}`", function_name(&cx.model.functions[index]));
    let chain: Vec<String> = path.iter().map(|&(function, _)| name(function)).collect();
    let message = format!("function {} calls itself: {} → {}", name(first), chain.join(" → "), name(first));
    let finding = cx.at_node(RECURSIVE_FUNCTION, call, Part::Op, message).label("first call of the cycle");
    let calls = path[1..].iter();
    Some(calls.fold(finding, |finding, &(_, call)| {
        finding.related(cx.places.node(call, Part::Op), "next call of the cycle")
    }))
}

fn duplicate(name: &str, count: usize) -> Finding {
    let message = format!("{count} functions are named `{name}`, with the same overload");
    DUPLICATE_FUNCTION.finding(message, Place::File)
}

fn reference_outside(cx: &LintContext, node: NodeId, attr: &str, name: &str) -> Finding {
    let message = format!(
        "`{attr}` of `{}` refers to function attribute `{name}`, but is not in a function",
        cx.node_name(node)
    );
    cx.at_node(UNBOUND_ATTRIBUTE_REFERENCE, node, Part::Attr(attr), message)
}

fn reference_unbound(cx: &LintContext, node: NodeId, attr: &str, name: &str, function: &Function) -> Finding {
    let message = format!(
        "`{attr}` of `{}` refers to attribute `{name}`, but function `{}` has no such attribute",
        cx.node_name(node),
        function_name(function)
    );
    cx.at_node(UNBOUND_ATTRIBUTE_REFERENCE, node, Part::Attr(attr), message)
}

fn run(cx: &LintContext, sink: &mut Sink) {
    references(cx, sink);
    let mut counts: IndexMap<(String, &str), usize> = IndexMap::new();
    for function in &cx.model.functions {
        let overload = function.overload.as_deref().unwrap_or("");
        *counts.entry((function_name(function), overload)).or_default() += 1;
    }
    sink.extend(
        counts.iter().filter(|(_, count)| **count > 1).map(|((name, _), count)| duplicate(name, *count)),
    );
    sink.extend(cycle(&calls(cx)).and_then(|path| recursive(cx, &path)));
}

fn references(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        for attr in &node.attrs {
            let AttrValue::Ref { name, .. } = &attr.value else { continue };
            let function = cx.model.function_of(node.graph).map(|index| &cx.model.functions[index]);
            match function {
                None => sink.push(reference_outside(cx, id, &attr.name, name)),
                Some(function) if !has_attribute(function, name) => {
                    sink.push(reference_unbound(cx, id, &attr.name, name, function));
                }
                Some(_) => {}
            }
        }
    }
}

fn has_attribute(function: &Function, name: &str) -> bool {
    let mut with_default = function.attribute_defaults.iter().map(|attr| &attr.name);
    function.attributes.iter().any(|attr| &**attr == name) || with_default.any(|attr| &**attr == name)
}

fn function_name(function: &Function) -> String {
    let name = function.name.as_deref().unwrap_or("");
    match normal_domain(function.domain.as_deref()) {
        "" => name.to_owned(),
        domain => format!("{domain}.{name}"),
    }
}

/// Returns the calls in every function: the callee and the calling node.
fn calls(cx: &LintContext) -> Vec<Vec<(usize, NodeId)>> {
    let of_function = |function: &Function| {
        let graphs = scopes::nested(cx.model, function.body);
        let nodes = graphs.into_iter().flat_map(|graph| &cx.model.graphs[graph].nodes);
        nodes.filter_map(|&node| Some((cx.model.callee(node)?, node))).collect()
    };
    cx.model.functions.iter().map(of_function).collect()
}

/// Returns the functions of a call cycle, each with the node that calls the next function.
///
/// The depth-first search is not recursive, because a file can contain call chains of any length.
fn cycle(calls: &[Vec<(usize, NodeId)>]) -> Option<Vec<(usize, NodeId)>> {
    let mut is_done = vec![false; calls.len()];
    for start in 0..calls.len() {
        // Each function on the path, with the number of its calls that were followed.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((function, followed)) = path.last_mut() {
            let call = if is_done[*function] { None } else { calls[*function].get(*followed) };
            *followed += 1;
            let Some(&(callee, _)) = call else {
                is_done[*function] = true;
                path.pop();
                continue;
            };
            if let Some(from) = path.iter().position(|(on_path, _)| *on_path == callee) {
                let ring = path[from..].iter();
                return Some(
                    ring.map(|&(function, followed)| (function, calls[function][followed - 1].1)).collect(),
                );
            }
            path.push((callee, 0));
        }
    }
    None
}
