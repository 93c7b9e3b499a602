//! DTY001: inputs, branches or loop states whose element types differ, but must be equal.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::analyses::repairs::{Casts, branch_casts, casts, of_types, state_cast};
use crate::diag::rule_ids::DTYPE_MISMATCH;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::{ElemType, NodeId, ValueId};
use crate::infer::{Conflict, Fault};

/// Detector of DTY001.
pub const DETECTOR: Detector = Detector { rules: &[DTYPE_MISMATCH], run };

/// Inputs of a node that must have the element type of the first one, but do not.
struct Mismatch {
    node: NodeId,
    first: (usize, ElemType),
    others: Vec<(usize, ElemType)>,
}

fn mismatch(cx: &LintContext, found: &Mismatch) -> Option<Finding> {
    let Mismatch { node, first: (first, x), others } = found;
    let &(other, y) = others.first()?;
    let of = &cx.model.nodes[*node];
    let name = |input: usize| of.input(input).map_or("", |value| cx.name(value));
    let mut by_type: Vec<(ElemType, Vec<String>)> = vec![(*x, vec![format!("`{}`", name(*first))])];
    for &(input, elem) in others {
        let shown = format!("`{}`", name(input));
        match by_type.iter_mut().find(|(known, _)| *known == elem) {
            Some((_, names)) => names.push(shown),
            None => by_type.push((elem, vec![shown])),
        }
    }
    let mut types: Vec<String> =
        by_type.iter().map(|(elem, names)| format!("{elem} ({})", names.join(", "))).collect();
    let last = types.pop()?;
    let message = format!(
        "`{}` requires equal element types, but its inputs are {} and {last}",
        of.op_type,
        types.join(", ")
    );
    let label = format!("{y}, but `{}` is {x}", name(*first));
    let mut finding = cx.at_node(DTYPE_MISMATCH, *node, Part::Input(other), message).label(label);
    for &(input, elem) in std::iter::once(&(*first, *x)).chain(others) {
        if let Some(value) = of.input(input) {
            let made = format!("`{}` is {elem}, defined here", cx.name(value));
            finding = finding.related(cx.places.value(origin(cx, value)), made);
        }
    }
    let finding = match casts(cx, *node) {
        Some(casts) => finding.help(help(cx, *node, &casts)),
        None => finding.help("give the inputs one type that the operator supports"),
    };
    let is_fixable = of_types(cx, *node).is_some();
    Some(if is_fixable { finding.fix(Applicability::Safe, "converts the inputs") } else { finding })
}

/// Returns the help text that tells a user to make the conversions in `casts`.
pub fn help(cx: &LintContext, node: NodeId, casts: &Casts) -> String {
    let name = |input: usize| cx.model.nodes[node].input(input).map_or("", |value| cx.name(value));
    let to = casts.inputs.first().map(|&(_, to)| to);
    let alike = casts.inputs.iter().filter(|(_, other)| Some(*other) == to);
    let mut names: Vec<String> = alike.map(|&(input, _)| format!("`{}`", name(input))).collect();
    names.dedup();
    let names = names.join(" and ");
    match to {
        Some(ElemType::Bool) => {
            format!("compare {names} with 0 before this node; in PyTorch, use `!= 0`")
        }
        Some(to) => format!("convert {names} to {to} before this node; in PyTorch, use `.to(…)`"),
        None => String::new(),
    }
}

/// Returns the value that an Identity, or a chain of Identity nodes, copies to `value`.
///
/// Only decreasing value ids are followed, so that the search ends even in a cycle.
fn origin(cx: &LintContext, mut value: ValueId) -> ValueId {
    while let Some((maker, _)) = cx.model.producer(value)
        && let maker = &cx.model.nodes[maker]
        && maker.is("Identity")
        && let Some(from) = maker.input(0).filter(|&from| from < value)
    {
        value = from;
    }
    value
}

fn branches(cx: &LintContext, node: NodeId, output: usize, (x, y): (ElemType, ElemType)) -> Finding {
    let message =
        format!("the branches of `{}` return different element types: {x} and {y}", cx.node_name(node));
    let finding = cx
        .at_node(DTYPE_MISMATCH, node, Part::Output(output), message)
        .label(format!("{x} or {y}, depending on the branch taken"))
        .help("convert the result of one branch to the type of the other");
    match branch_casts(cx, node, output) {
        Some(_) => finding.fix(Applicability::Safe, "converts the results to one type"),
        None => finding,
    }
}

fn carried(cx: &LintContext, node: NodeId, input: usize, (x, y): (ElemType, ElemType)) -> Finding {
    let message =
        format!("`{}` starts with {x}, but its body returns {y} for the next iteration", cx.node_name(node));
    let finding = cx
        .at_node(DTYPE_MISMATCH, node, Part::Input(input), message)
        .help("convert the value in the body, so that its type is the same in every iteration");
    match state_cast(cx, node, input, (x, y)) {
        Some(_) => finding.fix(Applicability::Safe, "converts the value to one type"),
        None => finding,
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    sink.extend(mismatches(cx).iter().filter_map(|found| mismatch(cx, found)));
    for (node, fault) in &cx.facts.faults {
        match fault {
            Fault::Branches { output, what: Conflict::Elem(x, y) } => {
                sink.push(branches(cx, *node, *output, (*x, *y)));
            }
            Fault::Carried { input, what: Conflict::Elem(x, y) } => {
                sink.push(carried(cx, *node, *input, (*x, *y)));
            }
            _ => {}
        }
    }
}

/// Returns the type mismatches, grouped by node and first input.
fn mismatches(cx: &LintContext) -> Vec<Mismatch> {
    let mut found: Vec<Mismatch> = Vec::new();
    for (node, fault) in &cx.facts.faults {
        let Fault::TypeMismatch { inputs: (a, b), elems: (x, y), .. } = fault else { continue };
        match found.last_mut().filter(|last| last.node == *node && last.first == (*a, *x)) {
            Some(last) if !last.others.contains(&(*b, *y)) => last.others.push((*b, *y)),
            Some(_) => {}
            None => found.push(Mismatch { node: *node, first: (*a, *x), others: vec![(*b, *y)] }),
        }
    }
    found
}
