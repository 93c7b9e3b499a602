//! Slices tensors along an axis and stacks tensors along a new axis.

use super::Result;
use crate::infer::eval::{Array, Refusal};

const NO_AXIS: Refusal = Refusal::BadInput("an axis is out of range");

/// Returns the slices of `whole` along `axis`, without that axis.
pub(super) fn slice(whole: &Array, axis: i64) -> Result<Vec<Array>> {
    let axis = place(axis, whole.rank())?;
    let (outer, along, inner) = around(whole.shape(), axis);
    let mut shape = whole.shape().to_vec();
    shape.remove(axis);
    let part = |at: usize| {
        let offsets = (0..outer).flat_map(|o| (0..inner).map(move |i| (o * along + at) * inner + i));
        whole.take(shape.clone(), &offsets.collect::<Vec<_>>())
    };
    (0..along).map(part).collect()
}

/// Stacks tensors of equal shape along a new axis.
///
/// Fails for an empty list, because the shape of the result is unknown.
pub(super) fn stack(parts: &[&Array], axis: i64) -> Result<Array> {
    let first = parts.first().ok_or(Refusal::Unsupported)?;
    if parts.iter().any(|part| part.shape() != first.shape()) {
        return Err(Refusal::BadInput("the stacked tensors differ in shape"));
    }
    let axis = place(axis, first.rank() + 1)?;
    let mut shape = first.shape().to_vec();
    shape.insert(axis, parts.len());
    let (outer, along, inner) = around(&shape, axis);
    let all = Array::gathered(first.elem(), parts)?;
    let from = |o: usize, at: usize, i: usize| (at * outer + o) * inner + i;
    let offsets =
        (0..outer).flat_map(|o| (0..along).flat_map(move |at| (0..inner).map(move |i| from(o, at, i))));
    all.take(shape, &offsets.collect::<Vec<_>>())
}

/// Converts an axis, possibly negative (from the end), to one counted from 0.
fn place(axis: i64, rank: usize) -> Result<usize> {
    let axis = if axis < 0 { axis.checked_add_unsigned(rank as u64).ok_or(NO_AXIS)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or(NO_AXIS)
}

/// Returns the element counts before, along and after an axis.
fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}
