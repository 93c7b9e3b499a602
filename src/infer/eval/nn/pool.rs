//! Pooling.

use super::window::{Window, image};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::max_or_nan;
use crate::infer::eval::shape::{numel, positions, strides};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `MaxPool`: the maxima and their offsets in the whole input.
/// With `storage_order` 1, offsets refer to an input with reversed spatial axes.
pub(super) fn max_pool(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    let (batch, channels, spatial) = image(x.shape())?;
    let window = Window::of(cx, spatial, None)?;
    window.afford(cx, &[batch, channels])?;
    let (plane, places) = (numel(spatial)?, numel(&window.output)?);
    let mut shape = vec![batch, channels];
    shape.extend(&window.output);
    let mut found = vec![0; cx.room(&shape)?];
    let values = x.f64s()?;
    for (at, place) in positions(&window.output).enumerate() {
        let taps: Vec<usize> = window.taps(&place).iter().filter_map(|tap| tap.input).collect();
        for image in 0..batch * channels {
            let mut seen = taps.iter().map(|tap| image * plane + tap);
            let Some(first) = seen.next() else { return bad("a pooling window covers only padding") };
            found[image * places + at] =
                seen.fold(first, |best, i| if values[i] > values[best] { i } else { best });
        }
    }
    let column_major = cx.flag("storage_order", false)?;
    let indices = found.iter().map(|&at| if column_major { reversed(at, spatial, plane) } else { at } as i64);
    let indices = Array::i64s(shape.clone(), indices.collect())?;
    Ok(vec![x.take(shape, &found)?, indices])
}

/// Returns the offset of the element when the first spatial axis varies fastest.
fn reversed(at: usize, spatial: &[usize], plane: usize) -> usize {
    let mut step = 1;
    let mut moved = at / plane * plane;
    for (dim, stride) in spatial.iter().zip(strides(spatial)) {
        moved += at / stride % dim * step;
        step *= dim;
    }
    moved
}

/// Computes `AveragePool` and `LpPool`.
pub(super) fn pool(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let (batch, channels, spatial) = image(x.shape())?;
    let window = Window::of(cx, spatial, None)?;
    window.afford(cx, &[batch, channels])?;
    let (plane, places) = (numel(spatial)?, numel(&window.output)?);
    let mut shape = vec![batch, channels];
    shape.extend(&window.output);
    let mut y = vec![0.0; cx.room(&shape)?];
    let (values, p) = (x.f64s()?, norm_order(cx)?);
    let with_padding = cx.flag("count_include_pad", false)?;
    for (at, place) in positions(&window.output).enumerate() {
        let taps = window.taps(&place);
        let inside: Vec<usize> = taps.iter().filter_map(|tap| tap.input).collect();
        let count = match with_padding {
            true => taps.iter().filter(|tap| tap.padded).count(),
            false => inside.len(),
        };
        for image in 0..batch * channels {
            let seen = inside.iter().map(|tap| values[image * plane + tap]);
            y[image * places + at] = match cx.call.op {
                "AveragePool" => seen.sum::<f64>() / count as f64,
                _ => seen.map(|value| value.abs().powf(p)).sum::<f64>().powf(p.recip()),
            };
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}

/// Returns the norm order; `p` was a float before opset 2.
fn norm_order(cx: &Cx) -> Result<f64> {
    let p = cx.float_attr("p").unwrap_or(cx.int("p", 2) as f64);
    if p > 0.0 { Ok(p) } else { bad("the attribute `p` must be positive") }
}

/// Computes `GlobalAveragePool`, `GlobalMaxPool` and `GlobalLpPool`.
pub(super) fn global(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.work(&[x.len()])?;
    let (batch, channels, spatial) = image(x.shape())?;
    let plane = numel(spatial)?;
    if plane == 0 {
        return bad("a spatial axis is empty");
    }
    let (values, p) = (x.f64s()?, norm_order(cx)?);
    let reduce = |chunk: &[f64]| match cx.call.op {
        "GlobalAveragePool" => Ok(chunk.iter().sum::<f64>() / plane as f64),
        "GlobalMaxPool" => Ok(chunk.iter().copied().fold(f64::NEG_INFINITY, max_or_nan)),
        "GlobalLpPool" => Ok(chunk.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(p.recip())),
        _ => Err(Refusal::Unsupported),
    };
    let mut shape = vec![1; x.rank()];
    (shape[0], shape[1]) = (batch, channels);
    Array::from_f64s(x.elem(), shape, values.chunks(plane).map(reduce).collect::<Result<_>>()?)
}
