//! Deformable convolution.

use super::conv::{MISFIT, add_bias};
use super::window::{Window, groups, image};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{numel, positions, strides};
use crate::infer::eval::{Array, Result, bad};

/// Computes `DeformConv` with 1 to 8 spatial axes; samples outside the input are zero.
pub(super) fn deform_conv(cx: &Cx) -> Result<Array> {
    let (x, w, offsets) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let (batch, channels, spatial) = image(x.shape())?;
    let (features, depth, kernel) = image(w.shape())?;
    let (groups, offset_groups) = (groups(cx, "group")?, groups(cx, "offset_group")?);
    let window = Window::of(cx, spatial, Some(kernel))?;
    let rank = spatial.len();
    let (places, taps, plane) = (numel(&window.output)?, numel(kernel)?, numel(spatial)?);
    let at_places = |channels: usize| [&[batch, channels][..], &window.output[..]].concat();
    let fits = features % groups == 0
        && depth.checked_mul(groups) == Some(channels)
        && channels % offset_groups == 0
        && offsets.shape() == at_places(offset_groups * taps * rank);
    let mask = cx.maybe(4)?;
    if !fits || mask.is_some_and(|mask| mask.shape() != at_places(offset_groups * taps)) {
        return Err(MISFIT);
    }
    if rank == 0 || rank > 8 {
        return bad("the input must have 1 to 8 spatial axes");
    }
    let mask = mask.map(Array::f64s).transpose()?;
    window.afford(cx, &[batch, features, depth, 1 << rank])?;
    let mut shape = vec![batch, features];
    shape.extend(&window.output);
    let mut y = vec![0.0; cx.room(&shape)?];
    let (x_data, weights, moved) = (x.f64s()?, w.f64s()?, offsets.f64s()?);
    for n in 0..batch {
        for (at, place) in positions(&window.output).enumerate() {
            for (k, tap) in positions(kernel).enumerate() {
                for c in 0..channels {
                    let group = n * offset_groups + c / (channels / offset_groups);
                    let point: Vec<f64> = (0..rank)
                        .map(|i| {
                            let steady = (place[i] * window.strides[i] + tap[i] * window.dilations[i]) as f64;
                            steady - window.pads[i] as f64
                                + moved[((group * taps + k) * rank + i) * places + at]
                        })
                        .collect();
                    let source = (n * channels + c) * plane;
                    let mut value = interpolate(&x_data[source..source + plane], spatial, &point);
                    if let Some(mask) = &mask {
                        value *= mask[(group * taps + k) * places + at];
                    }
                    let (group, within) = (c / depth, c % depth);
                    for m in group * (features / groups)..(group + 1) * (features / groups) {
                        y[(n * features + m) * places + at] +=
                            value * weights[(m * depth + within) * taps + k];
                    }
                }
            }
        }
    }
    add_bias(&mut y, &shape, cx.maybe(3)?)?;
    Array::from_f64s(x.elem(), shape, y)
}

/// Interpolates multilinearly on a grid; zero outside.
pub fn interpolate(grid: &[f64], shape: &[usize], point: &[f64]) -> f64 {
    let steps = strides(shape);
    let mut total = 0.0;
    for corner in 0..1usize << shape.len() {
        let (mut weight, mut at, mut inside) = (1.0, 0, true);
        for i in 0..shape.len() {
            let low = point[i].floor();
            let part = point[i] - low;
            let upper = corner >> i & 1 == 1;
            let coordinate = if upper { low + 1.0 } else { low };
            weight *= if upper { part } else { 1.0 - part };
            if coordinate >= 0.0 && coordinate < shape[i] as f64 {
                at += coordinate as usize * steps[i];
            } else {
                inside = false;
            }
        }
        if inside && weight != 0.0 {
            total += weight * grid[at];
        }
    }
    total
}
