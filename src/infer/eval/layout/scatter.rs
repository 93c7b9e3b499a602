//! Scattering of elements.

use super::gather::{element_offsets, slice_offsets};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::max_or_nan;
use crate::infer::eval::shape::{axis, numel, positions, strides, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Scatter` and `ScatterElements`; without `reduction`, the last update of an element wins.
pub(super) fn scatter_elements(cx: &Cx) -> Result<Array> {
    let (x, indices, updates) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    cx.room(x.shape())?;
    if indices.shape() != updates.shape() {
        return bad("the indices and the updates differ in shape");
    }
    let along = axis(cx.int("axis", 0), x.rank())?;
    write(cx, x, updates, &element_offsets(x.shape(), indices, along)?)
}

/// Computes `ScatterND`; each index vector selects a slice, which an update replaces or modifies.
pub(super) fn scatter_nd(cx: &Cx) -> Result<Array> {
    let (x, indices, updates) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    cx.room(x.shape())?;
    let (slice, starts) = slice_offsets(x.shape(), indices)?;
    let offsets: Vec<usize> = starts.into_iter().flat_map(|start| start..start + slice).collect();
    let (places, depth) = indices.shape().split_at(indices.rank().saturating_sub(1));
    let behind = depth.first().and_then(|&depth| x.shape().get(depth..)).unwrap_or_default();
    if updates.shape() != [places, behind].concat() {
        return bad("the shape of the updates does not match the indices");
    }
    write(cx, x, updates, &offsets)
}

/// Writes (or, with `reduction`, combines) each update at its offset, in order.
fn write(cx: &Cx, x: &Array, updates: &Array, offsets: &[usize]) -> Result<Array> {
    let reduction = cx.text("reduction", "none");
    if reduction == "none" {
        let mut source: Vec<usize> = (0..x.len()).collect();
        for (update, &at) in offsets.iter().enumerate() {
            source[at] = x.len() + update;
        }
        return x.joined(updates)?.take(x.shape().to_vec(), &source);
    }
    if x.elem() != updates.elem() {
        return bad("the element types of the data and the updates differ");
    }
    let shape = x.shape().to_vec();
    if x.elem().is_integer() {
        let combine: fn(i128, i128) -> i128 = match reduction.as_str() {
            "add" => |a, b| a.wrapping_add(b),
            "mul" => |a, b| a.wrapping_mul(b),
            "max" => Ord::max,
            "min" => Ord::min,
            _ => return bad("unknown value of `reduction`"),
        };
        let data = combined(x.ints()?, &updates.ints()?, offsets, combine);
        return Array::from_ints(x.elem(), shape, data);
    }
    let combine: fn(f64, f64) -> f64 = match reduction.as_str() {
        "add" => |a, b| a + b,
        "mul" => |a, b| a * b,
        "max" => max_or_nan,
        "min" => |a, b| -max_or_nan(-a, -b),
        _ => return bad("unknown value of `reduction`"),
    };
    let data = combined(x.f64s()?, &updates.f64s()?, offsets, combine);
    Array::from_f64s(x.elem(), shape, data)
}

fn combined<T: Copy>(mut data: Vec<T>, updates: &[T], offsets: &[usize], f: fn(T, T) -> T) -> Vec<T> {
    for (&update, &at) in updates.iter().zip(offsets) {
        data[at] = f(data[at], update);
    }
    data
}

/// Computes `TensorScatter`: writes a run of entries into a cache, at one index per batch sample.
pub(super) fn tensor_scatter(cx: &Cx) -> Result<Array> {
    let (cache, update) = (cx.tensor(0)?, cx.tensor(1)?);
    cx.room(cache.shape())?;
    let along = axis(cx.int("axis", -2), cache.rank())?;
    let others_agree = update.rank() == cache.rank()
        && (0..cache.rank()).all(|i| i == along || cache.shape()[i] == update.shape()[i]);
    if along == 0 || !others_agree || update.shape()[along] > cache.shape()[along] {
        return bad("the shape of the update does not match the cache");
    }
    let circular = match cx.text("mode", "linear").as_str() {
        "linear" => false,
        "circular" => true,
        _ => return bad("unknown value of `mode`"),
    };
    let batch = cache.shape()[0];
    let starts = match cx.maybe(2)? {
        Some(indices) => indices.as_i64s()?,
        None => vec![0; batch],
    };
    if starts.len() != batch {
        return bad("the write indices must have one entry per sample");
    }
    let length = cache.shape()[along];
    let steps = strides(cache.shape());
    let mut source: Vec<usize> = (0..numel(cache.shape())?).collect();
    for (k, position) in positions(update.shape()).enumerate() {
        let at = to_size(starts[position[0]])?.checked_add(position[along]).ok_or(Refusal::TooLarge)?;
        let at = match at {
            at if circular => at % length,
            at if at < length => at,
            _ => return bad("the update exceeds the cache"),
        };
        let place = crate::infer::eval::shape::offset(&position, &steps) - position[along] * steps[along];
        source[place + at * steps[along]] = cache.len() + k;
    }
    cache.joined(update)?.take(cache.shape().to_vec(), &source)
}
