//! Shape operators: reading and changing shapes, permuting and repeating axes.

use super::by_axis::by_axis;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{axes, axis, broadcast, numel, spread, strides, to_size, to_sizes, walk};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Shape` as an `int64` vector, from axis `start` up to `end`.
pub(super) fn shape(cx: &Cx) -> Result<Array> {
    let dims: Vec<i64> = cx.tensor(0)?.shape().iter().map(|&d| d as i64).collect();
    let rank = dims.len() as i64;
    // Out-of-range bounds are clamped.
    let bound = |at: i64| (if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize;
    let (start, end) = (bound(cx.int("start", 0)), bound(cx.int("end", rank)));
    let kept = dims.get(start..end).unwrap_or(&[]).to_vec();
    Array::i64s(vec![kept.len()], kept)
}

/// Computes `Size` as an `int64` scalar.
pub(super) fn size(cx: &Cx) -> Result<Array> {
    Array::i64s(vec![], vec![cx.tensor(0)?.len() as i64])
}

/// Computes `Reshape`; the target shape is an attribute before opset 5.
pub(super) fn reshape(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let wanted = cx.ints_at(1, "shape")?.ok_or(Refusal::BadInput("a target shape is required"))?;
    if cx.tensor(1).is_ok_and(|shape| shape.shape().len() != 1) {
        return bad("the target shape must have rank 1");
    }
    let allow_zero = cx.flag("allowzero", false)?;
    let mut shape = Vec::with_capacity(wanted.len());
    let mut inferred = None;
    for (i, &dim) in wanted.iter().enumerate() {
        shape.push(match dim {
            -1 if inferred.replace(i).is_some() => return bad("the target shape contains -1 more than once"),
            -1 => 1,
            0 if !allow_zero => *x
                .shape()
                .get(i)
                .ok_or(Refusal::BadInput("a 0 in the target shape has no input dimension to copy"))?,
            dim => to_size(dim)?,
        });
    }
    if let Some(i) = inferred {
        let known = numel(&shape)?;
        if known == 0 || x.len() % known != 0 {
            return bad("the dimension for -1 cannot be inferred");
        }
        shape[i] = x.len() / known;
    }
    cx.room(&shape)?;
    x.reshaped(shape)
}

/// Computes `Flatten`: a matrix with the axes before `axis` as rows, and the others as columns.
pub(super) fn flatten(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let at = match cx.int("axis", 1) {
        at if at == x.rank() as i64 => x.rank(),
        at => axis(at, x.rank())?,
    };
    let (outer, inner) = x.shape().split_at(at);
    x.reshaped(vec![numel(outer)?, numel(inner)?])
}

/// Computes `Squeeze`; without axes, removes all axes of size 1. Refuses an empty list of axes.
pub(super) fn squeeze(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let dropped = match cx.ints_at(1, "axes")? {
        // The specification does not define an empty list of axes; ONNX Runtime treats it as absent.
        Some(values) if values.is_empty() => return Err(Refusal::Unsupported),
        Some(values) => axes(&values, x.rank())?,
        None => (0..x.rank()).filter(|&i| x.shape()[i] == 1).collect(),
    };
    if dropped.iter().any(|&i| x.shape()[i] != 1) {
        return bad("a squeezed axis has a size other than 1");
    }
    let kept = x.shape().iter().enumerate().filter(|(i, _)| !dropped.contains(i));
    x.reshaped(kept.map(|(_, &dim)| dim).collect())
}

/// Computes `Unsqueeze`; the axes are those of the output.
pub(super) fn unsqueeze(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let values = cx.ints_at(1, "axes")?.ok_or(Refusal::BadInput("the axes are required"))?;
    let rank = x.rank() + values.len();
    let added = axes(&values, rank)?;
    let mut old = x.shape().iter();
    let dims = (0..rank).filter_map(|i| if added.contains(&i) { Some(1) } else { old.next().copied() });
    x.reshaped(dims.collect())
}

/// Computes `Transpose`; without `perm`, reverses the axes.
pub(super) fn transpose(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let order = match cx.ints("perm") {
        Some(perm) => axes(&perm, x.rank())?,
        None => (0..x.rank()).rev().collect(),
    };
    permuted(x, &order)
}

/// Permutes the axes; `order` lists each axis once.
pub fn permuted(x: &Array, order: &[usize]) -> Result<Array> {
    if order.len() != x.rank() {
        return bad("`perm` must have one entry per axis");
    }
    let all = strides(x.shape());
    let shape: Vec<usize> = order.iter().map(|&i| x.shape()[i]).collect();
    let steps: Vec<isize> = order.iter().map(|&i| all[i] as isize).collect();
    let offsets = walk(&shape, &steps, 0);
    x.take(shape, &offsets)
}

/// Computes `Expand`; dimensions of 1 in the target shape keep those of the input.
pub(super) fn expand(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let wanted = to_sizes(&cx.tensor(1)?.as_i64s()?)?;
    let shape = broadcast(&[x.shape(), &wanted])?;
    cx.room(&shape)?;
    x.take(shape.clone(), &spread(x.shape(), &shape)?)
}

/// Computes `Tile`; before opset 6, the second and third input are one count and one axis.
pub(super) fn tile(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let repeats = if cx.version() < 6 {
        let mut repeats = vec![1; x.rank()];
        let count = cx.tensor(1)?.f64s()?.first().map_or(1, |&count| count as i64);
        let along = cx.tensor(2)?.f64s()?.first().map_or(0, |&along| along as i64);
        repeats[axis(along, x.rank())?] = count;
        repeats
    } else {
        cx.tensor(1)?.as_i64s()?
    };
    if repeats.len() != x.rank() {
        return bad("the repeats must have one entry per axis");
    }
    let repeats = to_sizes(&repeats)?;
    let tiled: Vec<usize> = x.shape().iter().zip(&repeats).map(|(d, r)| d.saturating_mul(*r)).collect();
    cx.room(&tiled)?;
    let places: Vec<_> =
        tiled.iter().zip(x.shape()).map(|(&to, &dim)| (0..to).map(|i| Some(i % dim)).collect()).collect();
    by_axis(cx, x, &places, None)
}
