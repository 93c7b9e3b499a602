//! Products of quantized matrices and convolutions of quantized images.
//!
//! 8-bit integers differ from their zero points by less than 2⁸, so sums of up to 2³⁷ products are exact in
//! `f64`.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::{Factors, products};
use crate::infer::eval::nn::{Filter, convolve};
use crate::infer::eval::shape::{Split, spread};
use crate::infer::eval::{Array, Refusal, Result, bad, int_range};

const MISFIT: Refusal = Refusal::BadInput("a scale or zero point does not match its tensor");

/// Granularity of the scale or zero point of a matrix operand.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// One value per row, as a vector or with a last dimension of 1.
    Rows,
    /// One value per column, as a vector or with a second-to-last dimension of 1.
    Columns,
}

/// Reshapes a scale or zero point so that it broadcasts over its operand and the matrix product.
fn sided(x: &Array, side: Side) -> Result<Array> {
    let shape = x.shape();
    match (side, shape.len()) {
        (_, 0) => Ok(x.clone()),
        (_, 1) if x.len() == 1 => x.reshaped(vec![]),
        (Side::Rows, 1) => x.reshaped(vec![x.len(), 1]),
        (Side::Columns, 1) => Ok(x.clone()),
        (Side::Rows, rank) if shape[rank - 1] == 1 => Ok(x.clone()),
        (Side::Columns, rank) if shape[rank - 2] == 1 => Ok(x.clone()),
        _ => Err(Refusal::Unsupported),
    }
}

/// Returns the elements minus their zero points.
fn centred(x: &Array, zero: Option<&Array>, side: Side) -> Result<Vec<f64>> {
    let mut data = x.f64s()?;
    if let Some(zero) = zero {
        let zero = sided(zero, side)?;
        let (zeros, of_zero) = (zero.f64s()?, spread(zero.shape(), x.shape())?);
        data.iter_mut().zip(of_zero).for_each(|(x, i)| *x -= zeros[i]);
    }
    Ok(data)
}

/// Converts sums to `int32`, wrapping on overflow.
fn to_int32(shape: Vec<usize>, sums: Vec<f64>) -> Result<Array> {
    Array::from_ints(ElemType::Int32, shape, sums.into_iter().map(|sum| sum as i128).collect())
}

/// Computes `MatMulInteger` as `int32`, wrapping on overflow.
pub(super) fn matmul_integer(cx: &Cx) -> Result<Array> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let factors = Factors::of(cx, a.shape(), b.shape())?;
    let left = centred(a, cx.maybe(2)?, Side::Rows)?;
    let right = centred(b, cx.maybe(3)?, Side::Columns)?;
    let sums = products(&factors, &left, &right)?;
    to_int32(factors.shape, sums)
}

/// Multiplies a sum by `x * w / y`.
///
/// Each step is rounded to `float` in the order of the runtimes, which decides ties.
fn scaled(sum: f64, x: f64, w: f64, y: f64) -> f64 {
    let scale = x as f32 * w as f32 / y as f32;
    f64::from(sum as f32 * scale)
}

/// Converts scaled sums to the output type; to an integer type by `saturate(round(scaled) + zero)`.
fn requantized(to: ElemType, shape: Vec<usize>, scaled: Vec<f64>, zeros: &[f64]) -> Result<Array> {
    if !to.is_integer() {
        let shifted = scaled.iter().zip(zeros).map(|(x, zero)| x + zero).collect();
        return Array::from_f64s(to, shape, shifted);
    }
    if scaled.iter().any(|x| x.is_nan()) {
        return bad("NaN cannot be quantized to an integer");
    }
    let (low, high) = int_range(to);
    let whole = scaled.iter().zip(zeros).map(|(x, zero)| {
        let shifted = x.round_ties_even() + zero;
        shifted.clamp(low as f64, high as f64) as i128
    });
    Array::from_ints(to, shape, whole.collect())
}

/// Computes `QLinearMatMul`; integer results are rounded half to even and saturated.
pub(super) fn qlinear_matmul(cx: &Cx) -> Result<Array> {
    let (a, b, zero) = (cx.tensor(0)?, cx.tensor(3)?, cx.tensor(7)?);
    let factors = Factors::of(cx, a.shape(), b.shape())?;
    let left = centred(a, Some(cx.tensor(2)?), Side::Rows)?;
    let right = centred(b, Some(cx.tensor(5)?), Side::Columns)?;
    let mut sums = products(&factors, &left, &right)?;
    let scale = |i: usize, side| {
        let scale = sided(cx.tensor(i)?, side)?;
        let (scales, of_scale) = (scale.f64s()?, spread(scale.shape(), &factors.shape)?);
        Ok::<Vec<f64>, Refusal>(of_scale.into_iter().map(|i| scales[i]).collect())
    };
    let (of_a, of_b, of_y) = (scale(1, Side::Rows)?, scale(4, Side::Columns)?, scale(6, Side::Rows)?);
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = scaled(*sum, of_a[i], of_b[i], of_y[i]);
    }
    let shift = sided(zero, Side::Rows)?;
    let of_zero = spread(shift.shape(), &factors.shape)?;
    let shift = shift.f64s()?;
    let zeros: Vec<f64> = of_zero.into_iter().map(|i| shift[i]).collect();
    requantized(zero.elem(), factors.shape, sums, &zeros)
}

/// Expands a per-tensor or per-channel parameter to one number per channel.
fn for_channels(x: &Array, channels: usize) -> Result<Vec<f64>> {
    match x.f64s()?.as_slice() {
        [one] => Ok(vec![*one; channels]),
        all if all.len() == channels => Ok(all.to_vec()),
        _ => Err(MISFIT),
    }
}

/// Convolves image and filter after subtracting their zero points.
fn integer_convolution(
    cx: &Cx,
    [x, w]: [&Array; 2],
    [x_zero, w_zero]: [Option<&Array>; 2],
) -> Result<(Vec<usize>, Vec<f64>)> {
    let Some(&features) = w.shape().first() else { return bad("the filter must not be a scalar") };
    let (mut image, mut filter) = (x.f64s()?, w.f64s()?);
    if let Some(zero) = x_zero {
        let [zero] = zero.f64s()?[..] else { return Err(MISFIT) };
        image.iter_mut().for_each(|x| *x -= zero);
    }
    if let Some(zero) = w_zero {
        let zeros = for_channels(zero, features)?;
        let inner = Split::at(w.shape(), 0)?.inner.max(1);
        filter
            .chunks_mut(inner)
            .zip(zeros)
            .for_each(|(chunk, zero)| chunk.iter_mut().for_each(|w| *w -= zero));
    }
    convolve(cx, &image, x.shape(), &Filter { shape: w.shape(), data: &filter })
}

/// Computes `ConvInteger` as `int32`, wrapping on overflow.
pub(super) fn conv_integer(cx: &Cx) -> Result<Array> {
    let tensors = [cx.tensor(0)?, cx.tensor(1)?];
    let (shape, sums) = integer_convolution(cx, tensors, [cx.maybe(2)?, cx.maybe(3)?])?;
    to_int32(shape, sums)
}

/// Computes `QLinearConv`; refuses sums beyond 32 bits, which are undefined.
pub(super) fn qlinear_conv(cx: &Cx) -> Result<Array> {
    let tensors = [cx.tensor(0)?, cx.tensor(3)?];
    let zeros = [Some(cx.tensor(2)?), Some(cx.tensor(5)?)];
    let (shape, mut sums) = integer_convolution(cx, tensors, zeros)?;
    let one = |i: usize| cx.scalar(i)?.ok_or(MISFIT);
    let (x_scale, y_scale, y_zero) = (one(1)?, one(6)?, one(7)?);
    let Split { along: features, inner, .. } = Split::at(&shape, 1)?;
    let w_scales = for_channels(cx.tensor(4)?, features)?;
    let bias = cx.maybe(8)?.map_or(Ok(vec![0.0; features]), Array::f64s)?;
    if bias.len() != features {
        return Err(MISFIT);
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        let channel = i / inner % features;
        let with_bias = *sum + bias[channel];
        // The specification does not define sums that overflow 32 bits.
        if with_bias.abs() > f64::from(i32::MAX) {
            return Err(Refusal::Unsupported);
        }
        *sum = scaled(with_bias, x_scale, w_scales[channel], y_scale);
    }
    let zeros = vec![y_zero; sums.len()];
    requantized(cx.tensor(7)?.elem(), shape, sums, &zeros)
}
