//! Einstein summation.

use super::reduce::sum;
use std::collections::BTreeMap;

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{strides, walk};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// A letter of the equation, or an ellipsis axis counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

const SYNTAX: Refusal = Refusal::BadInput("the attribute `equation` is malformed");

/// Returns the labels of a term; `hidden` is the number of ellipsis axes.
fn labels(term: &str, hidden: usize) -> Result<Vec<Label>> {
    let letters = |part: &str| -> Result<Vec<Label>> {
        part.chars()
            .map(|c| if c.is_ascii_alphabetic() { Ok(Label::Letter(c)) } else { Err(SYNTAX) })
            .collect()
    };
    let Some((before, after)) = term.split_once("...") else { return letters(term) };
    let mut all = letters(before)?;
    all.extend((0..hidden).rev().map(Label::Ellipsis));
    all.extend(letters(after)?);
    Ok(all)
}

/// Returns the number of ellipsis axes in a term for a tensor of this rank.
fn hidden(term: &str, rank: usize) -> Result<usize> {
    match term.contains("...") {
        true => rank.checked_sub(term.len() - 3).ok_or(SYNTAX),
        false => Ok(0),
    }
}

/// Computes `Einsum`, with ellipses, diagonals and an implicit output; sizes of 1 broadcast.
pub(super) fn einsum(cx: &Cx) -> Result<Array> {
    let inputs = cx.tensors()?;
    let equation: String = cx.text("equation", "").split_whitespace().collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != inputs.len() || inputs.is_empty() {
        return Err(SYNTAX);
    }
    let mut sizes: BTreeMap<Label, usize> = BTreeMap::new();
    let (mut operands, mut deepest, mut seen) = (vec![], 0, vec![]);
    for (term, input) in terms.iter().zip(&inputs) {
        let hidden = hidden(term, input.rank())?;
        deepest = deepest.max(hidden);
        let labels = labels(term, hidden)?;
        if labels.len() != input.rank() {
            return Err(SYNTAX);
        }
        let differs = |(at, label): (usize, &Label)| {
            labels[..at]
                .iter()
                .position(|other| other == label)
                .is_some_and(|other| input.shape()[other] != input.shape()[at])
        };
        if labels.iter().enumerate().any(differs) {
            return bad("the axes of a diagonal differ in size");
        }
        for (&label, &dim) in labels.iter().zip(input.shape()) {
            let size = sizes.entry(label).or_insert(1);
            match (*size, dim) {
                (1, dim) => *size = dim,
                (size, dim) if size == dim || dim == 1 => {}
                _ => return bad("axes with the same label in `equation` differ in size"),
            }
        }
        seen.extend(labels.iter().copied());
        operands.push(labels);
    }
    let output = match right {
        Some(right) => labels(right, deepest)?,
        // The implicit output has the ellipsis axes, then the letters that occur once, in alphabetical order.
        None => sizes
            .keys()
            .copied()
            .filter(|label| matches!(label, Label::Ellipsis(_)))
            .rev()
            .chain(sizes.keys().copied().filter(|label| {
                matches!(label, Label::Letter(_)) && seen.iter().filter(|other| *other == label).count() == 1
            }))
            .collect(),
    };
    contract(cx, &inputs, &operands, &output, &sizes)
}

/// Multiplies the operands over all label values and sums over labels not in the output.
fn contract(
    cx: &Cx,
    inputs: &[&Array],
    operands: &[Vec<Label>],
    output: &[Label],
    sizes: &BTreeMap<Label, usize>,
) -> Result<Array> {
    if output.iter().enumerate().any(|(i, label)| !sizes.contains_key(label) || output[..i].contains(label)) {
        return Err(SYNTAX);
    }
    let mut order = output.to_vec();
    order.extend(sizes.keys().copied().filter(|label| !output.contains(label)));
    let dims: Vec<usize> = order.iter().map(|label| sizes[label]).collect();
    cx.work(&dims)?;
    let shape = dims[..output.len()].to_vec();
    let count = cx.room(&shape)?;
    let mut offsets = Vec::with_capacity(inputs.len());
    for (input, labels) in inputs.iter().zip(operands) {
        // The strides of a repeated label add up to that of the diagonal; a dimension of 1 has stride 0.
        let own = strides(input.shape());
        let step = |label: &Label| {
            let axes = labels.iter().zip(input.shape()).zip(&own);
            axes.filter(|((l, dim), _)| *l == label && **dim > 1).map(|(_, &stride)| stride as isize).sum()
        };
        offsets.push(walk(&dims, &order.iter().map(step).collect::<Vec<isize>>(), 0));
    }
    let elem = inputs[0].elem();
    if inputs.iter().any(|input| input.elem() != elem) {
        return bad("the element types of the inputs differ");
    }
    let group = offsets[0].len().checked_div(count).unwrap_or(0);
    if elem.is_integer() {
        let data = inputs.iter().map(|input| input.ints()).collect::<Result<Vec<_>>>()?;
        let term = |k: usize| {
            let factors = data.iter().zip(&offsets).map(|(data, offsets)| data[offsets[k]]);
            factors.fold(1i128, i128::wrapping_mul)
        };
        let sums = (0..count).map(|i| (i * group..(i + 1) * group).map(term).fold(0, i128::wrapping_add));
        return Array::from_ints(elem, shape, sums.collect());
    }
    let data = inputs.iter().map(|input| input.f64s()).collect::<Result<Vec<_>>>()?;
    let term = |k: usize| data.iter().zip(&offsets).map(|(data, offsets)| data[offsets[k]]).product::<f64>();
    let sums = (0..count).map(|i| sum((i * group..(i + 1) * group).map(term))).collect();
    Array::from_f64s(elem, shape, sums)
}
