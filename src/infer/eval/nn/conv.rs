//! Convolution.

use super::window::{Window, groups, image};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::sigmoid;
use crate::infer::eval::shape::{numel, positions};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Convolution weights, as `features × channels per group × kernel`.
pub struct Filter<'a> {
    pub shape: &'a [usize],
    pub data: &'a [f64],
}

/// Convolves `x` (batch × channels × spatial) without bias; also returns the result shape.
pub fn convolve(cx: &Cx, x: &[f64], x_shape: &[usize], filter: &Filter) -> Result<(Vec<usize>, Vec<f64>)> {
    let (batch, channels, spatial) = image(x_shape)?;
    let (features, depth, kernel) = image(filter.shape)?;
    let groups = groups(cx, "group")?;
    if features % groups != 0 || depth.checked_mul(groups) != Some(channels) {
        return bad("the channels do not match `group`");
    }
    let window = Window::of(cx, spatial, Some(kernel))?;
    window.afford(cx, &[batch, features, depth])?;
    let mut shape = vec![batch, features];
    shape.extend(&window.output);
    let mut y = vec![0.0; cx.room(&shape)?];
    let (x_plane, y_plane, w_plane) = (numel(spatial)?, numel(&window.output)?, numel(kernel)?);
    for (at, place) in positions(&window.output).enumerate() {
        let taps = window.taps(&place);
        for (n, m) in (0..batch).flat_map(|n| (0..features).map(move |m| (n, m))) {
            let first = n * channels + m / (features / groups) * depth;
            let mut sum = 0.0;
            for c in 0..depth {
                let (from, weights) = ((first + c) * x_plane, (m * depth + c) * w_plane);
                for tap in &taps {
                    if let Some(input) = tap.input {
                        sum += x[from + input] * filter.data[weights + tap.kernel];
                    }
                }
            }
            y[(n * features + m) * y_plane + at] = sum;
        }
    }
    Ok((shape, y))
}

/// Adds the bias of each channel to `batch × channels × …`.
pub(super) fn add_bias(y: &mut [f64], shape: &[usize], bias: Option<&Array>) -> Result<()> {
    let Some(bias) = bias else { return Ok(()) };
    let (bias, plane) = (bias.f64s()?, numel(&shape[2..])?);
    if bias.len() != shape[1] {
        return bad("the bias must have one element per channel");
    }
    for (chunk, i) in y.chunks_mut(plane.max(1)).zip(0..) {
        chunk.iter_mut().for_each(|y| *y += bias[i % bias.len()]);
    }
    Ok(())
}

/// Computes `Conv`, for any number of spatial axes.
pub(super) fn conv(cx: &Cx) -> Result<Array> {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let filter = Filter { shape: w.shape(), data: &w.f64s()? };
    let (shape, mut y) = convolve(cx, &x.f64s()?, x.shape(), &filter)?;
    add_bias(&mut y, &shape, cx.maybe(2)?)?;
    Array::from_f64s(x.elem(), shape, y)
}

/// Computes `CausalConvWithState`: a causal depthwise convolution over `batch × channels × length`.
/// The state holds the `kernel − 1` elements before the input. The new state is the second output.
pub(super) fn causal_conv(cx: &Cx) -> Result<Vec<Array>> {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let (&[batch, channels, length], &[features, 1, kernel]) = (x.shape(), w.shape()) else {
        return bad("the input must have rank 3, and the weights the shape [channels, 1, kernel size]");
    };
    if features != channels || kernel == 0 {
        return bad("the channels of the kernel and the input differ");
    }
    let keep = kernel - 1;
    cx.room(&[batch, channels, length.saturating_add(keep)])?;
    cx.work(&[batch, channels, length, kernel])?;
    let past = match cx.maybe(3)? {
        Some(past) if past.shape() == [batch, channels, keep] => past.f64s()?,
        Some(_) => return bad("the shape of the state must be [batch, channels, kernel size - 1]"),
        None => vec![0.0; batch * channels * keep],
    };
    let bias = match cx.maybe(2)? {
        Some(bias) if bias.len() == channels => bias.f64s()?,
        Some(_) => return bad("the bias must have one element per channel"),
        None => vec![0.0; channels],
    };
    let swish = match cx.text("activation", "none").as_str() {
        "none" => false,
        "silu" | "swish" => true,
        _ => return bad("unknown value of `activation`"),
    };
    let (x_data, weights) = (x.f64s()?, w.f64s()?);
    let (mut y, mut state) = (vec![], vec![]);
    for line in 0..batch * channels {
        let mut seen = past[line * keep..(line + 1) * keep].to_vec();
        seen.extend(&x_data[line * length..(line + 1) * length]);
        let channel = line % channels;
        for t in 0..length {
            let taps = seen[t..].iter().zip(&weights[channel * kernel..(channel + 1) * kernel]);
            let sum = bias[channel] + taps.map(|(x, w)| x * w).sum::<f64>();
            y.push(if swish { sum * sigmoid(sum) } else { sum });
        }
        state.extend(&seen[length..]);
    }
    let present = Array::from_f64s(x.elem(), vec![batch, channels, keep], state)?;
    Ok(vec![Array::from_f64s(x.elem(), x.shape().to_vec(), y)?, present])
}

/// Refusal for inconsistent shapes.
pub(super) const MISFIT: Refusal = Refusal::BadInput("the shapes of the inputs do not match");
