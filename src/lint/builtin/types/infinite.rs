//! DTY003: a factor of infinity, which is what a number became that its type cannot hold.

use super::Detector;
use crate::diag::rule_ids::CONSTANT_OVERFLOW;
use crate::diag::{Finding, Sink};
use crate::graph::{ElemType, Node, NodeId};
use crate::lint::LintContext;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[CONSTANT_OVERFLOW], run };

/// `(1 - keep) * -1e9` in float16: the exporter folds the number to -inf, and where `keep` is 1 the product is NaN,
/// whatever is added to it.
fn product(cx: &LintContext, node: NodeId, input: usize, number: f64, elem: ElemType) -> Finding {
    let message = format!("`{}` multiplies by {number} in {elem}: 0 times it is NaN", cx.node_name(node));
    cx.at_node(CONSTANT_OVERFLOW, node, Part::Input(input), message)
        .label(format!("a number that {elem} cannot hold became infinity"))
        .note("a mask by such a product makes NaN of every element that it should leave as it is")
        .help("choose by torch.where(keep, x, torch.finfo(x.dtype).min), or multiply by a number that the type holds")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes().filter(|(_, node)| node.is("Mul")) {
        sink.extend(
            infinite_factor(cx, node).map(|(input, number, elem)| product(cx, id, input, number, elem)),
        );
    }
}

/// The constant factor that is infinite, of a product with something that varies.
fn infinite_factor(cx: &LintContext, node: &Node) -> Option<(usize, f64, ElemType)> {
    let [Some(a), Some(b)] = node.inputs[..] else { return None };
    let (input, constant, other) = if cx.facts[a].is_const() { (0, a, b) } else { (1, b, a) };
    let elem =
        cx.facts[constant].elem().filter(|elem| matches!(elem, ElemType::Float16 | ElemType::Bfloat16))?;
    let array = cx.facts[constant].as_const().filter(|_| !cx.facts[other].is_const())?;
    // Of a Cast that overflows, it is said there.
    let is_cast =
        cx.model.producer(constant).is_some_and(|(maker, _)| &*cx.model.nodes[maker].op_type == "Cast");
    if is_cast {
        return None;
    }
    let infinite = array.f64s().ok()?.into_iter().find(|number| number.is_infinite())?;
    Some((input, infinite, elem))
}
