//! Placement of blocks and maxima back into an image.

use super::conv::MISFIT;
use super::window::{Window, image};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{numel, offset, positions, strides, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Col2Im`: places the blocks of `batch × (channels · block) × blocks`, summing overlaps.
pub(super) fn col2im(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let spatial = to_sizes(&cx.tensor(1)?.as_i64s()?)?;
    let block = to_sizes(&cx.tensor(2)?.as_i64s()?)?;
    let &[batch, rows, count] = x.shape() else { return bad("the input must have rank 3") };
    let window = Window::of(cx, &spatial, Some(&block))?;
    let (taps, plane) = (numel(&block)?, numel(&spatial)?);
    if taps == 0 || rows % taps != 0 || numel(&window.output)? != count {
        return Err(MISFIT);
    }
    let channels = rows / taps;
    window.afford(cx, &[batch, channels])?;
    let mut shape = vec![batch, channels];
    shape.extend(&spatial);
    let mut y = vec![0.0; cx.room(&shape)?];
    let values = x.f64s()?;
    for (at, place) in positions(&window.output).enumerate() {
        for tap in window.taps(&place) {
            let Some(to) = tap.input else { continue };
            for image in 0..batch * channels {
                y[image * plane + to] += values[(image * taps + tap.kernel) * count + at];
            }
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}

/// Computes `MaxUnpool`. Indices are offsets in the shape that the window implies.
/// If `output_shape` exceeds the implied shape, zeros are added at the end of the axes.
pub(super) fn max_unpool(cx: &Cx) -> Result<Array> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let (batch, channels, spatial) = image(x.shape())?;
    if x.shape() != indices.shape() {
        return Err(MISFIT);
    }
    let kernel =
        cx.ints("kernel_shape").ok_or(Refusal::BadInput("the attribute `kernel_shape` is required"))?;
    let window = Window::unplaced(cx, spatial, Some(&to_sizes(&kernel)?))?;
    let mut inner = vec![batch, channels];
    for (i, &dim) in spatial.iter().enumerate() {
        let (begin, end) = window.pads_of(i);
        let full = dim.checked_mul(window.strides[i]);
        let full = full.and_then(|reach| reach.checked_add(window.kernel[i])).ok_or(Refusal::TooLarge)?;
        let size = full
            .checked_sub(window.strides[i])
            .and_then(|full| full.checked_sub(begin))
            .and_then(|size| size.checked_sub(end));
        inner.push(size.ok_or(Refusal::BadInput("the pads exceed the output size"))?);
    }
    let shape = match cx.maybe(2)? {
        Some(sizes) => to_sizes(&sizes.as_i64s()?)?,
        None => inner.clone(),
    };
    if shape.len() != inner.len() {
        return Err(MISFIT);
    }
    let mut source = vec![None; cx.room(&shape)?];
    let (from, to) = (strides(&inner), strides(&shape));
    for (k, index) in indices.as_i64s()?.into_iter().enumerate() {
        let index = usize::try_from(index).ok().filter(|&i| numel(&inner).is_ok_and(|count| i < count));
        let index = index.ok_or(Refusal::BadInput("an index is out of range"))?;
        let position: Vec<usize> = (0..inner.len()).map(|i| index / from[i] % inner[i]).collect();
        if position.iter().zip(&shape).any(|(at, dim)| at >= dim) {
            return bad("an index is out of range");
        }
        source[offset(&position, &to)] = Some(k);
    }
    x.take_or(shape, &source, None)
}
