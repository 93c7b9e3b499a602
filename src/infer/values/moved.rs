//! Symbolic evaluation of operators that only move elements.
//!
//! Each element is replaced by a number, the evaluator moves the numbers, and each number in the result is
//! mapped back to its element.

use super::fold::{BUDGET, evaluate};
use super::{Ints, followed};
use crate::infer::eval::{Array, Val};
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::ops::Cx;
use crate::infer::shape::{Size, known};
use crate::schema::operator;

/// Infers the output elements of an operator that only moves elements.
pub(super) fn moved(cx: &Cx) -> Option<Vec<Fact>> {
    let operator = operator(cx.call().domain, cx.op())?;
    let elem = cx.outs.first()?.elem().filter(|&elem| followed(elem))?;
    // The element with number 0 is 0, because operators fill in 0 by default.
    let mut table: Vec<Size> = vec![known(0)];
    let mut inputs = Vec::with_capacity(cx.inputs());
    for input in 0..cx.inputs() {
        let Some(fact) = cx.fact(input) else {
            inputs.push(None);
            continue;
        };
        let array = if operator.moves(input)? {
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
    let outputs = evaluate(cx.call(), &inputs, BUDGET)?;
    outputs.iter().map(|output| Some(read_back(output, &table, elem)?.into())).collect()
}

/// Appends the elements of a tensor to the table, and replaces each element by its number in the table.
fn numbered(ints: Ints, table: &mut Vec<Size>) -> Option<Array> {
    let first = table.len() as i64;
    let numbers = (first..).take(ints.elements.len()).collect();
    table.extend(ints.elements);
    Array::i64s(ints.dims, numbers).ok()
}

/// Maps the element numbers in an output back to the elements in the table.
fn read_back(output: &Val, table: &[Size], elem: crate::graph::ElemType) -> Option<TensorFact> {
    let Val::Tensor(array) = output else { return None };
    let numbers = array.as_i64s().ok()?;
    let element = |&number: &i64| table.get(usize::try_from(number).ok()?)?.clone();
    Some(TensorFact::ints(elem, array.shape(), numbers.iter().map(element).collect()))
}
