//! Shape arithmetic: sizes, axes, strides and broadcasting.

use super::{Refusal, Result, bad};

/// Returns the number of elements of a shape.
pub(super) fn numel(shape: &[usize]) -> Result<usize> {
    // With a 0, the product is 0 even if the other dimensions would overflow.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or(Refusal::TooLarge)
}

/// Converts a size; a negative one is refused.
pub(super) fn to_size(value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Refusal::BadInput("a size must not be negative"))
}

/// Converts sizes; negative ones are refused.
pub(super) fn to_sizes(values: &[i64]) -> Result<Vec<usize>> {
    values.iter().map(|&value| to_size(value)).collect()
}

/// Converts an axis, possibly negative (from the end), to one counted from 0.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize> {
    index(axis, rank).ok_or(Refusal::BadInput("an axis is out of range"))
}

/// Converts axes like [`axis`], keeping their order; duplicates are refused.
pub(super) fn axes(values: &[i64], rank: usize) -> Result<Vec<usize>> {
    let found: Vec<usize> = values.iter().map(|&a| axis(a, rank)).collect::<Result<_>>()?;
    let mut sorted = found.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == found.len() { Ok(found) } else { bad("an axis is repeated") }
}

/// Converts an index into `len` elements, possibly negative (from the end); `None` if out of range.
pub fn index(value: i64, len: usize) -> Option<usize> {
    let len_signed = i64::try_from(len).ok()?;
    let positive = if value < 0 { value.checked_add(len_signed)? } else { value };
    usize::try_from(positive).ok().filter(|&i| i < len)
}

/// Returns the row-major strides of a shape, in elements.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(shape[i]);
    }
    strides
}

/// Element counts before, along and after an axis; offset = `(outer * along + i) * inner + rest`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) outer: usize,
    pub(super) along: usize,
    pub(super) inner: usize,
}

impl Split {
    /// Splits a shape at an axis, which must be less than the rank.
    pub(super) fn at(shape: &[usize], axis: usize) -> Result<Split> {
        let outer = numel(&shape[..axis])?;
        Ok(Split { outer, along: shape[axis], inner: numel(&shape[axis + 1..])? })
    }

    /// Returns the offset of the first element of each line along the axis.
    pub(super) fn lines(self) -> impl Iterator<Item = usize> {
        let Split { outer, along, inner } = self;
        (0..outer).flat_map(move |o| (0..inner).map(move |i| o * along * inner + i))
    }

    /// Returns the offsets of the elements of the line that starts at `start`.
    pub(super) fn line(self, start: usize) -> impl Iterator<Item = usize> {
        (0..self.along).map(move |i| start + i * self.inner)
    }
}

/// Returns the offsets of all positions of a shape in row-major order, with these strides from `start`.
///
/// The caller bounds the number of elements and guarantees that all offsets are in range.
pub(super) fn walk(shape: &[usize], strides: &[isize], start: isize) -> Vec<usize> {
    let mut offsets = vec![start];
    if shape.contains(&0) {
        return vec![];
    }
    for (&dim, &stride) in shape.iter().zip(strides) {
        offsets =
            offsets.iter().flat_map(|&base| (0..dim as isize).map(move |i| base + i * stride)).collect();
    }
    offsets.into_iter().map(|offset| offset as usize).collect()
}

/// Iterates over all positions of a shape in row-major order.
pub(super) fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    let mut next = if shape.contains(&0) { None } else { Some(vec![0; shape.len()]) };
    std::iter::from_fn(move || {
        let here = next.take()?;
        let mut following = here.clone();
        for (digit, &dim) in following.iter_mut().zip(&shape).rev() {
            *digit += 1;
            if *digit < dim {
                next = Some(following);
                break;
            }
            *digit = 0;
        }
        Some(here)
    })
}

/// Returns the element offset of a position.
pub(super) fn offset(position: &[usize], strides: &[usize]) -> usize {
    position.iter().zip(strides).map(|(&i, &stride)| i * stride).sum()
}

/// Returns the shape to which all of these broadcast, by the rules of NumPy.
pub(super) fn broadcast(shapes: &[&[usize]]) -> Result<Vec<usize>> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for shape in shapes {
        for (to, &dim) in common[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*to, dim) {
                (a, b) if a == b => {}
                (1, b) => *to = b,
                (_, 1) => {}
                _ => return bad("the shapes do not broadcast"),
            }
        }
    }
    Ok(common)
}

/// Returns, for each element of `to`, the offset of the element of `from` that is broadcast there.
pub(super) fn spread(from: &[usize], to: &[usize]) -> Result<Vec<usize>> {
    if broadcast(&[from, to])? != to {
        return bad("the shapes do not broadcast");
    }
    let lead = to.len() - from.len();
    let own = strides(from);
    let strides: Vec<isize> = (0..to.len())
        .map(|i| match i.checked_sub(lead) {
            Some(k) if from[k] != 1 => own[k] as isize,
            _ => 0,
        })
        .collect();
    Ok(walk(to, &strides, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_size_1_are_broadcast() {
        assert_eq!(broadcast(&[&[2, 1], &[3]]), Ok(vec![2, 3]));
        assert_eq!(spread(&[2, 1], &[2, 3]), Ok(vec![0, 0, 0, 1, 1, 1]));
        assert_eq!(spread(&[], &[2]), Ok(vec![0, 0]));
        assert!(broadcast(&[&[2], &[3]]).is_err());
        assert_eq!(broadcast(&[&[0], &[1]]), Ok(vec![0]));
    }

    #[test]
    fn element_count_that_overflows_is_refused() {
        assert_eq!(numel(&[usize::MAX, 2]), Err(Refusal::TooLarge));
        assert_eq!(numel(&[usize::MAX, 2, 0]), Ok(0));
    }

    #[test]
    fn positions_are_in_row_major_order() {
        let all: Vec<_> = positions(&[2, 2]).collect();
        assert_eq!(all, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(positions(&[]).count(), 1);
        assert_eq!(positions(&[3, 0]).count(), 0);
    }
}
