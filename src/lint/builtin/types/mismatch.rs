//! DTY001: an operator that wants one element type gets two.

use super::Detector;
use crate::diag::rule_ids::DTYPE_MISMATCH;
use crate::diag::{Finding, Sink};
use crate::graph::{ElemType, NodeId, ValueId};
use crate::infer::{Conflict, Fact, Fault};
use crate::lint::LintContext;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[DTYPE_MISMATCH], run };

/// Inputs of a node that should all be of the type of the first one.
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
    let listed: Vec<String> = others.iter().map(|&(input, _)| format!("`{}`", name(input))).collect();
    let message = format!(
        "`{}` takes one element type, but gets {x} (`{}`) and {y} ({})",
        of.op_type,
        name(*first),
        listed.join(", ")
    );
    let label = format!("{y}, where `{}` is {x}", name(*first));
    let mut finding = cx.at_node(DTYPE_MISMATCH, *node, Part::Input(other), message).label(label);
    for &(input, elem) in std::iter::once(&(*first, *x)).chain(others) {
        if let Some(value) = of.input(input) {
            let made = format!("`{}` is {elem}: made here", cx.name(value));
            finding = finding.related(cx.places.value(origin(cx, value)), made);
        }
    }
    let (input, to) = promotion(cx, *node, (*first, *x), (other, y));
    Some(
        finding.help(format!("convert `{}` to {to} before this node, in PyTorch with `.to(…)`", name(input))),
    )
}

/// The value that Identity nodes hand on as this one. Ids fall on the way, so that a cycle ends it.
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
        format!("the branches of `{}` give different element types: {x} and {y}", cx.node_name(node));
    cx.at_node(DTYPE_MISMATCH, node, Part::Output(output), message)
        .label(format!("{x} or {y}, by the branch taken"))
        .help("convert the result of one branch to the type of the other")
}

fn carried(cx: &LintContext, node: NodeId, input: usize, (x, y): (ElemType, ElemType)) -> Finding {
    let message = format!(
        "`{}` takes {x} into its first iteration, and its body hands on {y} to the next",
        cx.node_name(node)
    );
    cx.at_node(DTYPE_MISMATCH, node, Part::Input(input), message)
        .help("convert the value within the body, so that every iteration takes one type")
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

/// The mismatches of one node with its first input together.
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

/// Which input is to be converted, and to what: PyTorch's promotion of two tensors with axes; but a
/// constant takes the type of what it is combined with, if that is of no lower category.
fn promotion(
    cx: &LintContext,
    node: NodeId,
    (a, x): (usize, ElemType),
    (b, y): (usize, ElemType),
) -> (usize, ElemType) {
    let node = &cx.model.nodes[node];
    let is_const = |input: usize| cx.input(node, input).is_some_and(Fact::is_const);
    match (is_const(a), is_const(b)) {
        (true, false) if category(x) <= category(y) => (a, y),
        (false, true) if category(y) <= category(x) => (b, x),
        _ if promoted(x, y) == x => (b, x),
        _ => (a, promoted(x, y)),
    }
}

/// bool, integers, floats, complex: the categories of PyTorch's type promotion.
fn category(elem: ElemType) -> u8 {
    match elem {
        ElemType::String | ElemType::Bool => 0,
        elem if elem.is_integer() => 1,
        elem if elem.is_complex() => 3,
        _ => 2,
    }
}

/// The type that PyTorch's promotion gives to two tensors (`torch.promote_types`); of two narrow floats of
/// different kinds, and of integers that differ in sign, the one that holds both.
fn promoted(x: ElemType, y: ElemType) -> ElemType {
    let width = |elem: ElemType| elem.bits().unwrap_or(0);
    let is_mixed_half =
        matches!((x, y), (ElemType::Float16, ElemType::Bfloat16) | (ElemType::Bfloat16, ElemType::Float16));
    match (category(x), category(y)) {
        _ if is_mixed_half => ElemType::Float,
        (a, b) if a != b => {
            if a > b {
                x
            } else {
                y
            }
        }
        (1, 1) if x.is_signed_integer() != y.is_signed_integer() => {
            let (signed, unsigned) = if x.is_signed_integer() { (x, y) } else { (y, x) };
            match width(unsigned).max(width(signed) / 2) {
                _ if width(signed) > width(unsigned) => signed,
                0..=8 => ElemType::Int16,
                9..=16 => ElemType::Int32,
                _ => ElemType::Int64,
            }
        }
        _ if width(x) >= width(y) => x,
        _ => y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElemType::*;

    #[test]
    fn promotes_as_pytorch_does() {
        let check = |x, y, expected| {
            assert_eq!((promoted(x, y), promoted(y, x)), (expected, expected), "{x} {y}");
        };
        check(Float16, Float, Float);
        check(Float16, Bfloat16, Float);
        check(Int64, Float16, Float16);
        check(Bool, Int8, Int8);
        check(Uint8, Int8, Int16);
        check(Uint8, Int32, Int32);
        check(Float, Double, Double);
        check(Double, Complex64, Complex64);
    }
}
