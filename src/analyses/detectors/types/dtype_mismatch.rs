//! DTY001: inputs with different element types where an operator requires equal ones.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::DTYPE_MISMATCH;
use crate::diag::{Finding, Sink};
use crate::graph::{ElemType, NodeId, ValueId};
use crate::infer::{Conflict, Fact, Fault};

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
    let listed: Vec<String> = others.iter().map(|&(input, _)| format!("`{}`", name(input))).collect();
    let message = format!(
        "`{}` requires equal element types, but its inputs are {x} (`{}`) and {y} ({})",
        of.op_type,
        name(*first),
        listed.join(", ")
    );
    let label = format!("{y}, but `{}` is {x}", name(*first));
    let mut finding = cx.at_node(DTYPE_MISMATCH, *node, Part::Input(other), message).label(label);
    for &(input, elem) in std::iter::once(&(*first, *x)).chain(others) {
        if let Some(value) = of.input(input) {
            let made = format!("`{}` is {elem}, defined here", cx.name(value));
            finding = finding.related(cx.places.value(origin(cx, value)), made);
        }
    }
    let (input, to) = promotion(cx, *node, (*first, *x), (other, y));
    Some(
        finding.help(format!("convert `{}` to {to} before this node; in PyTorch, use `.to(…)`", name(input))),
    )
}

/// Returns the source of a value through Identity nodes.
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
    cx.at_node(DTYPE_MISMATCH, node, Part::Output(output), message)
        .label(format!("{x} or {y}, depending on the branch taken"))
        .help("convert the result of one branch to the type of the other")
}

fn carried(cx: &LintContext, node: NodeId, input: usize, (x, y): (ElemType, ElemType)) -> Finding {
    let message =
        format!("`{}` starts with {x}, but its body returns {y} for the next iteration", cx.node_name(node));
    cx.at_node(DTYPE_MISMATCH, node, Part::Input(input), message)
        .help("convert the value in the body, so that its type is the same in every iteration")
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

/// Returns the input to convert, and its new type.
///
/// This is PyTorch's promotion of two non-scalar tensors. However, a constant takes the type of the other operand,
/// unless that has a lower category.
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

/// Returns the category of a type in PyTorch's type promotion: bool, integers, floats, complex.
fn category(elem: ElemType) -> u8 {
    match elem {
        ElemType::String | ElemType::Bool => 0,
        elem if elem.is_integer() => 1,
        elem if elem.is_complex() => 3,
        _ => 2,
    }
}

/// Returns the promoted type of two tensors, as `torch.promote_types` does.
///
/// For float16 with bfloat16, it is float; for signed with unsigned integers, the narrowest signed type that represents
/// both, or int64.
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
    fn promotion_matches_pytorch() {
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
