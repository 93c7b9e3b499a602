//! Normalization of groups of elements by their own statistics.

use super::conv::MISFIT;
use super::window::{groups as group_count, image};
use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::{Groups, elem_attr};
use crate::infer::eval::shape::{Split, axes, axis, numel, spread, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Mean and 1/√(variance + ε) of each group.
struct Statistics {
    mean: Vec<f64>,
    inverse_deviation: Vec<f64>,
}

/// Normalizes each group in place to mean 0 and population variance 1, and returns its statistics.
fn standardize(data: &mut [f64], groups: &Groups, epsilon: f64) -> Statistics {
    let (mut mean, mut inverse_deviation) = (vec![], vec![]);
    for group in 0..groups.count {
        let members = &groups.offsets[group * groups.size..(group + 1) * groups.size];
        let (average, variance) = moments(members.iter().map(|&i| data[i]), groups.size);
        let inverse = (variance + epsilon).sqrt().recip();
        members.iter().for_each(|&i| data[i] = (data[i] - average) * inverse);
        mean.push(average);
        inverse_deviation.push(inverse);
    }
    Statistics { mean, inverse_deviation }
}

/// Returns mean and population variance.
pub(super) fn moments(values: impl Iterator<Item = f64> + Clone, count: usize) -> (f64, f64) {
    let mean = values.clone().sum::<f64>() / count as f64;
    (mean, values.map(|x| (x - mean).powi(2)).sum::<f64>() / count as f64)
}

/// Multiplies by `scale` and adds `bias`, both broadcast to `shape`.
fn scale_and_shift(data: &mut [f64], shape: &[usize], scale: &Array, bias: Option<&Array>) -> Result<()> {
    let (factors, of_scale) = (scale.f64s()?, spread(scale.shape(), shape)?);
    data.iter_mut().zip(of_scale).for_each(|(x, i)| *x *= factors[i]);
    if let Some(bias) = bias {
        let (terms, of_bias) = (bias.f64s()?, spread(bias.shape(), shape)?);
        data.iter_mut().zip(of_bias).for_each(|(x, i)| *x += terms[i]);
    }
    Ok(())
}

/// Reshapes a vector of per-channel values to broadcast over the following axes.
fn per_channel(vector: &Array, rank: usize) -> Result<Array> {
    if vector.rank() != 1 {
        return bad("per-channel parameters must have rank 1");
    }
    let mut shape = vec![1; rank - 1];
    shape[0] = vector.len();
    vector.reshaped(shape)
}

/// Computes `LayerNormalization`: the output, the means and the inverse standard deviations.
pub(super) fn layer(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let from = axis(cx.int("axis", -1), x.rank())?;
    let groups = Groups::over(x.shape(), &(from..x.rank()).collect::<Vec<_>>(), true)?;
    let mut data = x.f64s()?;
    let found = standardize(&mut data, &groups, cx.float("epsilon", 1e-5));
    scale_and_shift(&mut data, x.shape(), cx.tensor(1)?, cx.maybe(2)?)?;
    let stash = elem_attr(cx, "stash_type")?.unwrap_or(ElemType::Float);
    Ok(vec![
        Array::from_f64s(x.elem(), x.shape().to_vec(), data)?,
        Array::from_f64s(stash, groups.shape.clone(), found.mean)?,
        Array::from_f64s(stash, groups.shape, found.inverse_deviation)?,
    ])
}

/// Computes `RMSNormalization`; the output has the element type of the scale.
pub(super) fn rms(cx: &Cx) -> Result<Array> {
    let (x, scale) = (cx.tensor(0)?, cx.tensor(1)?);
    cx.room(x.shape())?;
    let from = axis(cx.int("axis", -1), x.rank())?;
    let (size, epsilon) = (numel(&x.shape()[from..])?, cx.float("epsilon", 1e-5));
    let mut data = x.f64s()?;
    for group in data.chunks_mut(size.max(1)) {
        let mean_square = group.iter().map(|x| x * x).sum::<f64>() / size as f64;
        let root = (mean_square + epsilon).sqrt();
        group.iter_mut().for_each(|x| *x /= root);
    }
    scale_and_shift(&mut data, x.shape(), scale, None)?;
    Array::from_f64s(scale.elem(), x.shape().to_vec(), data)
}

/// Computes `GroupNormalization`; scale and bias are per channel, or per group before opset 21.
pub(super) fn group(cx: &Cx) -> Result<Array> {
    let (x, scale, bias) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    cx.room(x.shape())?;
    let (batch, channels, spatial) = image(x.shape())?;
    let count = group_count(cx, "num_groups")?;
    if channels % count != 0 {
        return bad("the number of channels is not divisible by the number of groups");
    }
    let plane = numel(spatial)?;
    let grouped = [batch, count, channels / count * plane];
    let mut data = x.f64s()?;
    standardize(&mut data, &Groups::over(&grouped, &[2], true)?, cx.float("epsilon", 1e-5));
    let shape = if cx.version() < 21 { grouped.to_vec() } else { x.shape().to_vec() };
    let (scale, bias) = (per_channel(scale, shape.len())?, per_channel(bias, shape.len())?);
    scale_and_shift(&mut data, &shape, &scale, Some(&bias))?;
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

/// Computes `InstanceNormalization` of batch × channels × …; scale and bias are per channel.
pub(super) fn instance(cx: &Cx) -> Result<Array> {
    let (x, scale, bias) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    cx.room(x.shape())?;
    if x.rank() < 2 || [scale, bias].iter().any(|vector| vector.shape() != &x.shape()[1..2]) {
        return Err(MISFIT);
    }
    let groups = Groups::over(x.shape(), &(2..x.rank()).collect::<Vec<_>>(), true)?;
    let mut data = x.f64s()?;
    standardize(&mut data, &groups, cx.float("epsilon", 1e-5));
    let (scale, bias) = (per_channel(scale, x.rank())?, per_channel(bias, x.rank())?);
    scale_and_shift(&mut data, x.shape(), &scale, Some(&bias))?;
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

/// Computes `MeanVarianceNormalization`; refuses groups whose variance is 0.
pub(super) fn mean_variance(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let over = axes(&cx.ints("axes").unwrap_or_else(|| vec![0, 2, 3]), x.rank())?;
    let mut data = x.f64s()?;
    // The function body in the specification adds 1e-9 to the standard deviation.
    let groups = Groups::over(x.shape(), &over, true)?;
    for group in 0..groups.count {
        let members = &groups.offsets[group * groups.size..(group + 1) * groups.size];
        let (mean, variance) = moments(members.iter().map(|&i| data[i]), groups.size);
        if variance == 0.0 {
            // If the variance is 0, the function body in the specification returns 0, but runtimes that do
            // not add 1e-9 return NaN.
            return Err(Refusal::Unsupported);
        }
        members.iter().for_each(|&i| data[i] = (data[i] - mean) / (variance.sqrt() + 1e-9));
    }
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

/// Computes `LpNormalization`; zero if the norm is zero.
pub(super) fn lp(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let norm: fn(&[f64]) -> f64 = match cx.int("p", 2) {
        1 => |line| line.iter().map(|x| x.abs()).sum(),
        2 => |line| line.iter().map(|x| x * x).sum::<f64>().sqrt(),
        _ => return bad("the attribute `p` must be 1 or 2"),
    };
    let split = Split::at(x.shape(), axis(cx.int("axis", -1), x.rank())?)?;
    let mut data = x.f64s()?;
    super::softmax::each_line(&mut data, split, |line| match norm(line) {
        0.0 => line.fill(0.0),
        norm => line.iter_mut().for_each(|x| *x /= norm),
    });
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

/// Computes `LRN`: divides by a power of a scaled sum of squares over neighboring channels.
pub(super) fn local_response(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let size = to_size(cx.int("size", 0))?;
    if x.rank() < 2 || size == 0 {
        return Err(MISFIT);
    }
    let (alpha, beta, bias) = (cx.float("alpha", 1e-4), cx.float("beta", 0.75), cx.float("bias", 1.0));
    let split = Split::at(x.shape(), 1)?;
    cx.work(&[x.len(), size.min(split.along)])?;
    let (before, after) = ((size - 1) / 2, (size - 1).div_ceil(2));
    let mut data = x.f64s()?;
    super::softmax::each_line(&mut data, split, |line| {
        let squares: Vec<f64> = line.iter().map(|x| x * x).collect();
        for (c, x) in line.iter_mut().enumerate() {
            let end = c.saturating_add(after).saturating_add(1).min(squares.len());
            let sum: f64 = squares[c.saturating_sub(before)..end].iter().sum();
            *x /= (bias + alpha / size as f64 * sum).powf(beta);
        }
    });
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}
