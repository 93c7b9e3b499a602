//! IDX001: negative indices in a linear index.
//!
//! PyTorch's tracing exporter flattens the indexed axes of `x[rows, columns]`, and computes the linear index
//! `columns + rows * x.shape[1]`. A negative row index still counts from the end, because the linear index is
//! negative, too. A negative column index selects an element of the previous row.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::NEGATIVE_INDEX;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::dim::Dim;
use crate::graph::{Node, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of IDX001.
pub const DETECTOR: Detector = Detector { rules: &[NEGATIVE_INDEX], run };

/// Maximum number of terms of a linear index; tensors have fewer axes.
const MAX_TERMS: usize = 16;
/// Maximum number of nodes from a factor back to its Shape node, which is included.
const MAX_STEPS: usize = 8;

fn wrong_row(cx: &LintContext, gather: NodeId, sum: NodeId, input: usize, index: i64) -> Finding {
    let message = format!(
        "the index {index} counts from the end in PyTorch, but in this linear index it selects an element of \
         the previous row"
    );
    cx.at_node(NEGATIVE_INDEX, sum, Part::Input(input), message)
        .label("negative, but the axis size is not added before this sum")
        .related(cx.places.node(gather, Part::Input(1)), "the sum is the index of this Gather")
        .help("use a non-negative index: x.shape[1] - 2 instead of -2")
        .fix(Applicability::Unsafe, "takes the index modulo the size of its axis, as PyTorch does")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        if node.is("Gather") && flattened(cx, node).is_some() {
            sink.extend(negative_terms(cx, id, node));
        }
    }
}

fn maker<'a>(cx: &LintContext<'a>, value: ValueId) -> Option<(NodeId, &'a Node)> {
    let (id, _) = cx.model.producer(value)?;
    Some((id, &cx.model.nodes[id]))
}

/// Returns the tensor whose axes are flattened before a Gather.
fn flattened(cx: &LintContext, gather: &Node) -> Option<ValueId> {
    let (_, node) = maker(cx, gather.input(0)?)?;
    (node.is("Flatten") || node.is("Reshape")).then(|| node.input(0)).flatten()
}

/// Reports a negative constant among the terms of a linear index, except for the leading axis.
///
/// The last Add of the linear index adds the term of the leading axis, a product.
fn negative_terms(cx: &LintContext, gather: NodeId, node: &Node) -> Option<Finding> {
    let mut value = node.input(1)?;
    for term in 0..MAX_TERMS {
        let (sum, add) = maker(cx, value).filter(|(_, node)| node.is("Add"))?;
        let product = [1, 0].into_iter().find(|&operand| is_product(cx, node, add, operand))?;
        let rest = 1 - product;
        let inner = if term == 0 { None } else { negative_factor(cx, add, product) };
        let index = inner.map(|index| (product, index));
        if let Some((input, index)) = index.or_else(|| Some((rest, negative(cx, add, rest)?))) {
            return Some(wrong_row(cx, gather, sum, input, index));
        }
        value = add.input(rest)?;
    }
    None
}

/// Returns the negative constant among the factors of a product.
fn negative_factor(cx: &LintContext, add: &Node, product: usize) -> Option<i64> {
    let (_, product) = maker(cx, add.input(product)?)?;
    (0..product.inputs.len()).find_map(|factor| negative(cx, product, factor))
}

/// Whether an operand is the product of an index and the size of an indexed axis.
fn is_product(cx: &LintContext, gather: &Node, add: &Node, operand: usize) -> bool {
    let product = add.input(operand).and_then(|value| maker(cx, value)).map(|(_, node)| node);
    let Some(product) = product.filter(|node| node.is("Mul")) else { return false };
    product.inputs.iter().flatten().any(|&factor| is_size(cx, gather, factor))
}

/// Whether a value derives from a Shape, or is the constant product of the last flattened axes.
fn is_size(cx: &LintContext, gather: &Node, factor: ValueId) -> bool {
    let mut value = factor;
    for _ in 0..MAX_STEPS {
        match maker(cx, value).map(|(_, node)| node) {
            Some(node) if node.is("Shape") => return true,
            Some(node) if ["Gather", "Mul", "Squeeze", "Unsqueeze", "Cast"].iter().any(|op| node.is(op)) => {
                let Some(next) = node.input(0) else { return false };
                value = next;
            }
            _ => break,
        }
    }
    let number = cx.facts[factor].as_ints().and_then(|ints| ints.first()?.as_ref()?.as_const());
    let dims = flattened(cx, gather).and_then(|data| cx.facts[data].dims());
    let sizes: Option<Vec<i64>> =
        dims.and_then(|dims| dims.iter().skip(1).map(|dim| dim.as_ref()?.as_const()).collect());
    let trailing =
        |sizes: Vec<i64>| (0..sizes.len()).any(|from| Some(sizes[from..].iter().product()) == number);
    number.is_some() && sizes.is_some_and(trailing)
}

/// Returns the minimum of a constant operand, if it is negative.
fn negative(cx: &LintContext, of: &Node, operand: usize) -> Option<i64> {
    let ints = cx.input(of, operand).filter(|fact| fact.is_const()).and_then(Fact::as_ints)?;
    let least = ints.iter().filter_map(|int| int.as_ref().and_then(Dim::as_const)).min()?;
    // A sum of constant terms is constant, too, but not an index.
    let is_index =
        of.input(operand).and_then(|value| maker(cx, value)).is_none_or(|(_, node)| !node.is("Add"));
    (least < 0 && is_index).then_some(least)
}
