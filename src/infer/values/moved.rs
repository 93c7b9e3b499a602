//! Operators that only move elements, on elements that are symbols.
//!
//! Each known element gets a number, the evaluator moves the numbers, and each is read back as the
//! element it stands for.

use super::fold::evaluate;
use super::{Ints, followed};
use crate::infer::eval::{Array, Val};
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::ops::Cx;
use crate::infer::shape::{Size, known};

/// The operators that only move elements, with the inputs whose elements they move; the others say where.
const MOVERS: &[(&str, &[usize])] = &[
    ("Compress", &[0]),
    ("DepthToSpace", &[0]),
    ("Expand", &[0]),
    ("Flatten", &[0]),
    ("Gather", &[0]),
    ("GatherElements", &[0]),
    ("GatherND", &[0]),
    ("Pad", &[0, 2]),
    ("Reshape", &[0]),
    ("ReverseSequence", &[0]),
    ("Scatter", &[0, 2]),
    ("ScatterElements", &[0, 2]),
    ("ScatterND", &[0, 2]),
    ("Slice", &[0]),
    ("SpaceToDepth", &[0]),
    ("Split", &[0]),
    ("Squeeze", &[0]),
    ("Tile", &[0]),
    ("Transpose", &[0]),
    ("Trilu", &[0]),
    ("Unsqueeze", &[0]),
    ("Where", &[1, 2]),
];

pub(super) fn moved(cx: &Cx) -> Option<Vec<Fact>> {
    if !cx.call().domain.is_empty() {
        return None;
    }
    let op = cx.op();
    let elem = cx.outs.first()?.elem().filter(|&elem| followed(elem))?;
    // 0 stands for itself: what an operator fills in by default.
    let mut table: Vec<Size> = vec![known(0)];
    let mut inputs = Vec::with_capacity(cx.inputs());
    for input in 0..cx.inputs() {
        let Some(fact) = cx.fact(input) else {
            inputs.push(None);
            continue;
        };
        let array = if moves(op, input)? {
            numbered(Ints::of(fact.as_tensor()?)?, &mut table)?.into()
        } else {
            fact.as_const()?.clone()
        };
        inputs.push(Some(Val::Tensor(array)));
    }
    let combines = cx.text("reduction").is_some_and(|reduction| reduction != "none");
    if table.iter().skip(1).all(Option::is_none) || combines || cx.attr("value").is_some() {
        return None;
    }
    let outputs = evaluate(cx, &inputs)?;
    outputs.iter().map(|output| Some(read_back(output, &table, elem)?.into())).collect()
}

/// Whether the operator moves the elements of this input; `None` for one that does not only move.
fn moves(op: &str, input: usize) -> Option<bool> {
    if op == "Concat" {
        return Some(true);
    }
    let at = MOVERS.binary_search_by(|(name, _)| (*name).cmp(op)).ok()?;
    Some(MOVERS[at].1.contains(&input))
}

fn numbered(ints: Ints, table: &mut Vec<Size>) -> Option<Array> {
    let first = table.len() as i64;
    let numbers = (first..).take(ints.elements.len()).collect();
    table.extend(ints.elements);
    Array::i64s(ints.dims, numbers).ok()
}

fn read_back(output: &Val, table: &[Size], elem: crate::graph::ElemType) -> Option<TensorFact> {
    let Val::Tensor(array) = output else { return None };
    let numbers = array.as_i64s().ok()?;
    let element = |&number: &i64| table.get(usize::try_from(number).ok()?)?.clone();
    Some(TensorFact::ints(elem, array.shape(), numbers.iter().map(element).collect()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn movers_are_sorted() {
        assert!(super::MOVERS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
