//! Selection of elements by index or condition.

use super::by_axis::{by_axis, whole};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{self, Split, broadcast, index, numel, positions, spread, strides};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Refusal for an index that is out of range.
pub(super) const OUT_OF_RANGE: Refusal = Refusal::BadInput("an index is out of range");

/// Computes `Gather`; negative indices count from the end of the axis.
pub(super) fn gather(cx: &Cx) -> Result<Array> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let along = shape::axis(cx.int("axis", 0), x.rank())?;
    let mut result = x.shape()[..along].to_vec();
    result.extend(indices.shape());
    result.extend(&x.shape()[along + 1..]);
    cx.room(&result)?;
    let Split { outer, along: dim, inner } = Split::at(x.shape(), along)?;
    let rows: Vec<usize> =
        indices.as_i64s()?.into_iter().map(|i| index(i, dim).ok_or(OUT_OF_RANGE)).collect::<Result<_>>()?;
    let mut offsets = Vec::with_capacity(outer * rows.len() * inner);
    for o in 0..outer {
        for row in &rows {
            let start = (o * dim + row) * inner;
            offsets.extend(start..start + inner);
        }
    }
    x.take(result, &offsets)
}

/// Returns the offset in a tensor of shape `of` for every position of `indices`.
/// Along the axis `along`, the element of `indices` at the position replaces the coordinate of the position.
pub(super) fn element_offsets(of: &[usize], indices: &Array, along: usize) -> Result<Vec<usize>> {
    if indices.rank() != of.len() {
        return bad("the data and the indices differ in rank");
    }
    let fits = (0..of.len()).all(|i| i == along || indices.shape()[i] <= of[i]);
    if !fits {
        return bad("the indices exceed the shape of the data");
    }
    let steps = strides(of);
    let values = indices.as_i64s()?;
    positions(indices.shape())
        .zip(values)
        .map(|(mut position, value)| {
            position[along] = index(value, of[along]).ok_or(OUT_OF_RANGE)?;
            Ok(shape::offset(&position, &steps))
        })
        .collect()
}

/// Computes `GatherElements`; the output has the shape of the indices.
pub(super) fn gather_elements(cx: &Cx) -> Result<Array> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    cx.room(indices.shape())?;
    let along = shape::axis(cx.int("axis", 0), x.rank())?;
    x.take(indices.shape().to_vec(), &element_offsets(x.shape(), indices, along)?)
}

/// Returns the size and the offsets of the slices that the index vectors select.
/// The index vectors lie along the last axis of `indices`.
pub(super) fn slice_offsets(of: &[usize], indices: &Array) -> Result<(usize, Vec<usize>)> {
    let depth = *indices.shape().last().ok_or(Refusal::BadInput("the indices must not be a scalar"))?;
    if depth > of.len() {
        return bad("an index vector is longer than the rank of the data");
    }
    let steps = strides(of);
    let values = indices.as_i64s()?;
    let slice = numel(&of[depth..])?;
    let count = numel(&indices.shape()[..indices.rank() - 1])?;
    let start = |vector: &[i64]| {
        vector
            .iter()
            .zip(of)
            .zip(&steps)
            .try_fold(0, |sum, ((&i, &dim), step)| Ok(sum + index(i, dim).ok_or(OUT_OF_RANGE)? * step))
    };
    let starts = (0..count).map(|k| start(&values[k * depth..(k + 1) * depth])).collect::<Result<_>>()?;
    Ok((slice, starts))
}

/// Computes `GatherND`; each index vector selects a slice of its batch.
pub(super) fn gather_nd(cx: &Cx) -> Result<Array> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let batch = shape::to_size(cx.int("batch_dims", 0))?;
    if batch >= x.rank().min(indices.rank()) || x.shape()[..batch] != indices.shape()[..batch] {
        return bad("`batch_dims` does not match the shapes of the data and the indices");
    }
    let inner = &x.shape()[batch..];
    let (slice, mut starts) = slice_offsets(inner, indices)?;
    let (batches, volume) = (numel(&x.shape()[..batch])?, numel(inner)?);
    let per_batch = starts.len().checked_div(batches).unwrap_or(0);
    for (k, start) in starts.iter_mut().enumerate() {
        *start += k / per_batch.max(1) * volume;
    }
    let depth = indices.shape()[indices.rank() - 1];
    let mut result = indices.shape()[..indices.rank() - 1].to_vec();
    result.extend(&inner[depth..]);
    cx.room(&result)?;
    let offsets: Vec<usize> = starts.into_iter().flat_map(|start| start..start + slice).collect();
    x.take(result, &offsets)
}

/// Computes `Compress`; without `axis`, the output is a vector of the selected elements.
pub(super) fn compress(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    if x.rank() == 0 {
        return bad("the input must not be a scalar");
    }
    let chosen: Vec<usize> =
        cx.tensor(1)?.as_bools()?.iter().enumerate().filter(|(_, keep)| **keep).map(|(i, _)| i).collect();
    let Some(along) = cx.int_attr("axis") else {
        return x.take(vec![chosen.len()], &chosen);
    };
    let along = shape::axis(along, x.rank())?;
    if chosen.iter().any(|&i| i >= x.shape()[along]) {
        return Err(OUT_OF_RANGE);
    }
    let mut places: Vec<_> = x.shape().iter().map(|&dim| whole(dim)).collect();
    places[along] = chosen.into_iter().map(Some).collect();
    by_axis(cx, x, &places, None)
}

/// Computes `Where`.
pub(super) fn select(cx: &Cx) -> Result<Array> {
    let (condition, x, y) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let common = broadcast(&[condition.shape(), x.shape(), y.shape()])?;
    cx.room(&common)?;
    let flags = condition.as_bools()?;
    let pool = x.joined(y)?;
    let (of_x, of_y) = (spread(x.shape(), &common)?, spread(y.shape(), &common)?);
    let offsets: Vec<usize> = spread(condition.shape(), &common)?
        .into_iter()
        .zip(of_x.into_iter().zip(of_y))
        .map(|(c, (i, j))| if flags[c] { i } else { x.len() + j })
        .collect();
    pool.take(common, &offsets)
}
