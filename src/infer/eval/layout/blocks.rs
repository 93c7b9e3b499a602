//! Block moves between depth and space, and sequence reversal.

use super::view::permuted;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{axis, offset, positions, strides, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

fn block_size(cx: &Cx) -> Result<usize> {
    match to_size(cx.int("blocksize", 0))? {
        0 => bad("`blocksize` must not be 0"),
        size => Ok(size),
    }
}

/// Computes `DepthToSpace` of a rank-4 tensor: channels become blocks of height and width.
pub(super) fn depth_to_space(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let (&[n, c, h, w], b) = (x.shape(), block_size(cx)?) else { return bad("the input must have rank 4") };
    let area = b.checked_mul(b).ok_or(Refusal::TooLarge)?;
    if c % area != 0 {
        return bad("the number of channels is not a multiple of `blocksize` squared");
    }
    let depth = c / area;
    let blocks = match cx.text("mode", "DCR").as_str() {
        "DCR" => permuted(&x.reshaped(vec![n, b, b, depth, h, w])?, &[0, 3, 4, 1, 5, 2])?,
        "CRD" => permuted(&x.reshaped(vec![n, depth, b, b, h, w])?, &[0, 1, 4, 2, 5, 3])?,
        _ => return bad("unknown value of `mode`"),
    };
    blocks.reshaped(vec![n, depth, h * b, w * b])
}

/// Computes `SpaceToDepth` of a rank-4 tensor: blocks of height and width become channels.
pub(super) fn space_to_depth(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let (&[n, c, h, w], b) = (x.shape(), block_size(cx)?) else { return bad("the input must have rank 4") };
    if h % b != 0 || w % b != 0 {
        return bad("the height or width is not a multiple of `blocksize`");
    }
    let blocks = x.reshaped(vec![n, c, h / b, b, w / b, b])?;
    let order = match cx.text("mode", "DCR").as_str() {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        _ => return bad("unknown value of `mode`"),
    };
    permuted(&blocks, &order)?.reshaped(vec![n, c * b * b, h / b, w / b])
}

/// Computes `ReverseSequence`; elements after a sequence's length keep their positions.
pub(super) fn reverse_sequence(cx: &Cx) -> Result<Array> {
    let (x, lengths) = (cx.tensor(0)?, cx.tensor(1)?.as_i64s()?);
    cx.room(x.shape())?;
    // The specification requires axis 0 or 1; ONNX Runtime also accepts axis -1.
    let first_two = |name, default| match cx.int(name, default) {
        at @ (0 | 1) => axis(at, x.rank()),
        _ => bad("`time_axis` and `batch_axis` must be 0 or 1"),
    };
    let (time, batch) = (first_two("time_axis", 0)?, first_two("batch_axis", 1)?);
    let fits = |&length: &i64| (0..=x.shape()[time] as i64).contains(&length);
    if time == batch || lengths.len() != x.shape()[batch] || !lengths.iter().all(fits) {
        return bad("the sequence lengths do not match the input");
    }
    let steps = strides(x.shape());
    let offsets: Vec<usize> = positions(x.shape())
        .map(|mut position| {
            let length = lengths[position[batch]] as usize;
            if position[time] < length {
                position[time] = length - 1 - position[time];
            }
            offset(&position, &steps)
        })
        .collect();
    x.take(x.shape().to_vec(), &offsets)
}
