//! DTY003: multiplications by an infinite constant, the result of an overflow.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::CONSTANT_OVERFLOW;
use crate::diag::{Finding, Sink};
use crate::graph::{ElemType, Node, NodeId};

/// Detector of DTY003.
pub const DETECTOR: Detector = Detector { rules: &[CONSTANT_OVERFLOW], run };

/// Creates the finding of a product such as `(1 - keep) * -1e9` in float16.
///
/// The exporter folds the number to -inf, and the product is NaN where `keep` is 1.
fn product(cx: &LintContext, node: NodeId, input: usize, number: f64, elem: ElemType) -> Finding {
    let message =
        format!("`{}` multiplies by {number} in {elem}: 0 times {number} is NaN", cx.node_name(node));
    cx.at_node(CONSTANT_OVERFLOW, node, Part::Input(input), message)
        .label(format!("a number that overflows {elem} became infinity"))
        .note("a mask with such a product turns every unmasked element into NaN")
        .help("use torch.where(keep, x, torch.finfo(x.dtype).min), or a factor within the range of the type")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes().filter(|(_, node)| node.is("Mul")) {
        sink.extend(
            infinite_factor(cx, node).map(|(input, number, elem)| product(cx, id, input, number, elem)),
        );
    }
}

/// Returns the infinite constant factor of a product with a non-constant value.
fn infinite_factor(cx: &LintContext, node: &Node) -> Option<(usize, f64, ElemType)> {
    let [Some(a), Some(b)] = node.inputs[..] else { return None };
    let (input, constant, other) = if cx.facts[a].is_const() { (0, a, b) } else { (1, b, a) };
    let elem =
        cx.facts[constant].elem().filter(|elem| matches!(elem, ElemType::Float16 | ElemType::Bfloat16))?;
    let array = cx.facts[constant].as_const().filter(|_| !cx.facts[other].is_const())?;
    // An overflowing Cast is reported at the Cast.
    let is_cast =
        cx.model.producer(constant).is_some_and(|(maker, _)| &*cx.model.nodes[maker].op_type == "Cast");
    if is_cast {
        return None;
    }
    let infinite = array.f64s().ok()?.into_iter().find(|number| number.is_infinite())?;
    Some((input, infinite, elem))
}
