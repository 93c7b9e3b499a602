//! Quantization and dequantization by scale and zero point.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::elem_attr;
use crate::infer::eval::minifloat::Format;
use crate::infer::eval::shape::{Split, axis, offset, positions, strides, to_size};
use crate::infer::eval::{Array, Buffer, Refusal, Result, bad, int_range};

/// Returns the offset of the scale of each element.
///
/// There is one scale per tensor, per index of the axis, or per block along the axis.
fn scale_offsets(cx: &Cx, shape: &[usize], scale: &Array) -> Result<Vec<usize>> {
    let count = cx.room(shape)?;
    let misfit = Refusal::BadInput("the shape of the scale does not match the input");
    let block = to_size(cx.int("block_size", 0))?;
    if block > 0 && scale.rank() != shape.len() {
        return Err(misfit);
    }
    if scale.len() == 1 {
        return Ok(vec![0; count]);
    }
    let along = axis(cx.int("axis", 1), shape.len())?;
    if scale.rank() == 1 {
        let Split { along: dim, inner, .. } = Split::at(shape, along)?;
        if scale.len() != dim {
            return Err(misfit);
        }
        return Ok((0..count).map(|i| i / inner % dim).collect());
    }
    let blocked = |i: usize| if i == along { shape[i].div_ceil(block) } else { shape[i] };
    if block == 0 || scale.rank() != shape.len() || !(0..shape.len()).all(|i| scale.shape()[i] == blocked(i))
    {
        return Err(misfit);
    }
    let steps = strides(scale.shape());
    Ok(positions(shape)
        .map(|mut position| {
            position[along] /= block;
            offset(&position, &steps)
        })
        .collect())
}

/// Rounds numbers to values of an element type.
fn rounded(elem: ElemType, data: Vec<f64>) -> Result<Vec<f64>> {
    Array::from_f64s(elem, vec![data.len()], data)?.f64s()
}

/// Computes `QuantizeLinear`; integers are rounded half to even and saturated.
pub(super) fn quantize(cx: &Cx) -> Result<Array> {
    let (x, scale, zero) = (cx.tensor(0)?, cx.tensor(1)?, cx.maybe(2)?);
    let wanted = elem_attr(cx, "output_dtype")?;
    let to = zero.map(Array::elem).or(wanted).unwrap_or(ElemType::Uint8);
    if wanted.is_some_and(|wanted| wanted != to) || zero.is_some_and(|zero| zero.len() != scale.len()) {
        return bad("the zero point does not match the scale or `output_dtype`");
    }
    // The input, which may be an integer tensor, is divided in the type `precision` or that of the scale.
    let precision = elem_attr(cx, "precision")?.unwrap_or(scale.elem());
    if !precision.is_float() {
        return bad("the precision must be a float type");
    }
    let of_scale = scale_offsets(cx, x.shape(), scale)?;
    let (values, scales) = (rounded(precision, x.f64s()?)?, rounded(precision, scale.f64s()?)?);
    let ratios = values.iter().zip(&of_scale).map(|(x, &i)| x / scales[i]).collect();
    let mut ratios = rounded(precision, ratios)?;
    let zeros = zero.map(Array::f64s).transpose()?;
    let shift = |i: usize| zeros.as_ref().map_or(0.0, |zeros| zeros[of_scale[i]]);
    if to.is_integer() {
        // A scale of 0 or an overflow yields 0 in some runtimes and the largest value in others.
        if ratios.iter().any(|ratio| !ratio.is_finite()) {
            return Err(Refusal::Unsupported);
        }
        let (low, high) = int_range(to);
        let whole = ratios.iter().enumerate().map(|(i, ratio)| {
            let shifted = ratio.round_ties_even() + shift(i);
            shifted.clamp(low as f64, high as f64) as i128
        });
        return Array::from_ints(to, x.shape().to_vec(), whole.collect());
    }
    let format = Format::of(to).ok_or(Refusal::Unsupported)?;
    ratios.iter_mut().enumerate().for_each(|(i, ratio)| *ratio += shift(i));
    let saturate = cx.flag("saturate", true)?;
    let codes = ratios.into_iter().map(|ratio| format.encode(ratio, saturate) as u8).collect();
    Array::new(to, x.shape().to_vec(), Buffer::Codes(codes))
}

/// Computes `DequantizeLinear` per tensor, axis or block: `(x − zero point) · scale`.
pub(super) fn dequantize(cx: &Cx) -> Result<Array> {
    let (x, scale, zero) = (cx.tensor(0)?, cx.tensor(1)?, cx.maybe(2)?);
    if zero.is_some_and(|zero| zero.len() != scale.len()) {
        return bad("the zero point and the scale differ in size");
    }
    let to = elem_attr(cx, "output_dtype")?.unwrap_or(scale.elem());
    let of_scale = scale_offsets(cx, x.shape(), scale)?;
    let scales = rounded(to, scale.f64s()?)?;
    let zeros = zero.map(Array::f64s).transpose()?;
    let mut data = x.f64s()?;
    if let Some(zeros) = zeros {
        data.iter_mut().zip(&of_scale).for_each(|(x, &i)| *x -= zeros[i]);
    }
    let products = rounded(to, data)?.into_iter().zip(of_scale).map(|(x, i)| x * scales[i]);
    Array::from_f64s(to, x.shape().to_vec(), products.collect())
}

/// Computes `DynamicQuantizeLinear`: the `uint8` values, the scale and the zero point.
/// The quantized range includes all values and 0.
///
/// Each step is rounded to `float`, as in the function body of the specification.
pub(super) fn dynamic_quantize(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let values = x.f64s()?;
    let high = values.iter().copied().fold(0.0, f64::max);
    let low = values.iter().copied().fold(0.0, f64::min);
    let single = |x: f64| f64::from(x as f32);
    let scale = single(single(high - low) / 255.0);
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Refusal::Unsupported);
    }
    let zero = single(-low / scale).clamp(0.0, 255.0).round_ties_even();
    let quantized = values.iter().map(|x| (single(x / scale).round_ties_even() + zero).clamp(0.0, 255.0));
    Ok(vec![
        Array::from_f64s(ElemType::Uint8, x.shape().to_vec(), quantized.collect())?,
        Array::from_f64s(ElemType::Float, vec![], vec![scale])?,
        Array::from_f64s(ElemType::Uint8, vec![], vec![zero])?,
    ])
}
