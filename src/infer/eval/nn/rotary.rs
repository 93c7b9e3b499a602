//! Rotary position embedding.

use super::attention::{merge_heads, split_heads};
use super::conv::MISFIT;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{index, to_size};
use crate::infer::eval::{Array, Refusal, Result};

/// Computes `RotaryEmbedding`, which rotates pairs of elements by position-dependent angles.
/// With `interleaved`, the elements of a pair are adjacent; otherwise, each half has one element of the pair.
pub(super) fn rotary_embedding(cx: &Cx) -> Result<Array> {
    let (x, cos, sin) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    cx.room(x.shape())?;
    let heads = cx.int_attr("num_heads").filter(|&heads| heads != 0).map(to_size).transpose()?;
    let split = split_heads(x, heads)?;
    let &[batch, heads, length, size] = split.shape() else { return Err(MISFIT) };
    let rotated = match to_size(cx.int("rotary_embedding_dim", 0))? {
        0 => size,
        part => part,
    };
    let half = rotated / 2;
    if rotated > size || rotated % 2 != 0 || cos.shape() != sin.shape() || cos.shape().last() != Some(&half) {
        return Err(MISFIT);
    }
    let rows = rows(cx, cos, batch, length)?;
    let (cos, sin, mut data) = (cos.f64s()?, sin.f64s()?, split.f64s()?);
    let interleaved = cx.flag("interleaved", false)?;
    for (at, vector) in data.chunks_mut(size.max(1)).enumerate() {
        let (n, t) = (at / length / heads, at % length);
        let row = rows[n * length + t] * half;
        for i in 0..half {
            let (a, b) = if interleaved { (2 * i, 2 * i + 1) } else { (i, i + half) };
            let (x, y, c, s) = (vector[a], vector[b], cos[row + i], sin[row + i]);
            (vector[a], vector[b]) = (c * x - s * y, s * x + c * y);
        }
    }
    let y = Array::from_f64s(x.elem(), split.shape().to_vec(), data)?;
    merge_heads(y, x.rank())
}

/// Returns the cache row of each sample and position.
fn rows(cx: &Cx, cache: &Array, batch: usize, length: usize) -> Result<Vec<usize>> {
    match (cx.maybe(3)?, cache.shape()) {
        (Some(ids), &[count, _]) if ids.shape() == [batch, length] => {
            let out = Refusal::BadInput("a position ID is out of range");
            ids.as_i64s()?.into_iter().map(|id| index(id, count).ok_or(out.clone())).collect()
        }
        (None, &[n, t, _]) if (n, t) == (batch, length) => Ok((0..batch * length).collect()),
        _ => Err(MISFIT),
    }
}
