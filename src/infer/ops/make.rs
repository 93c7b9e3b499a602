//! Operators that make tensors from attributes, shapes and numbers.

use super::Cx;
use crate::graph::{AttrValue, ElemType};
use crate::infer::eval::Array;
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::load;
use crate::infer::shape::{Shape, Size, known, number};

/// `Constant`: whichever of its attributes is there.
pub fn constant(cx: &mut Cx) -> Option<()> {
    let fact = match cx.attr("value") {
        Some(AttrValue::Tensor(id)) => load::tensor(cx.tensor_of(*id), *id),
        _ => None,
    };
    let fact = fact.or_else(|| sparse(cx)).or_else(|| constant_of_attribute(cx).map(Fact::from));
    cx.put(0, fact?);
    Some(())
}

fn sparse(cx: &Cx) -> Option<Fact> {
    let Some(AttrValue::SparseTensor(sparse)) = cx.attr("sparse_value") else { return None };
    let elem = sparse.values.as_ref().and_then(|values| values.elem());
    Some(Fact::tensor(elem, Shape::known(&sparse.dims)))
}

fn constant_of_attribute(cx: &Cx) -> Option<TensorFact> {
    let vector = |len: usize| vec![len];
    let names = ["value_int", "value_ints", "value_float", "value_floats", "value_string", "value_strings"];
    let array = match names.iter().find_map(|name| cx.attr(name))? {
        AttrValue::Int(int) => Array::i64s(vec![], vec![*int]),
        AttrValue::Ints(ints) => Array::i64s(vector(ints.len()), ints.clone()),
        AttrValue::Float(float) => Array::from_f64s(ElemType::Float, vec![], vec![f64::from(*float)]),
        AttrValue::Floats(floats) => {
            let wide = floats.iter().map(|&float| f64::from(float)).collect();
            Array::from_f64s(ElemType::Float, vector(floats.len()), wide)
        }
        AttrValue::String(string) => Array::strings(vec![], vec![string.to_vec()]),
        AttrValue::Strings(strings) => {
            let bytes = strings.iter().map(|string| string.to_vec()).collect();
            Array::strings(vector(strings.len()), bytes)
        }
        _ => return None,
    };
    Some(TensorFact::constant(array.ok()?))
}

/// `ConstantOfShape`: the input holds the dims.
pub fn constant_of_shape(cx: &mut Cx) -> Option<()> {
    let elem = match cx.attr("value") {
        Some(AttrValue::Tensor(id)) => cx.tensor_of(*id).elem(),
        Some(_) => None,
        None => Some(ElemType::Float),
    };
    cx.set_elem(0, elem);
    let dims = cx.ints(0).or_else(|| Some(vec![None; cx.length(0)?]))?;
    cx.set_dims(0, dims);
    Some(())
}

/// `Shape`: the dims of the input, or from `start` to `end` of them.
pub fn shape(cx: &mut Cx) -> Option<()> {
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(1));
        return Some(());
    };
    let rank = dims.len() as i64;
    let clamp = |at: i64| usize::try_from(if at < 0 { at + rank } else { at }.clamp(0, rank)).unwrap_or(0);
    let (start, end) = (clamp(cx.int_or("start", 0)), clamp(cx.int_or("end", rank)));
    let dims = dims.get(start..end).unwrap_or_default().to_vec();
    cx.put(0, TensorFact::ints(ElemType::Int64, &[dims.len()], dims).into());
    Some(())
}

/// `Size`: the number of elements of the input.
pub fn size(cx: &mut Cx) -> Option<()> {
    let count = cx.shape(0).numel();
    cx.put(0, TensorFact::ints(ElemType::Int64, &[], vec![count]).into());
    Some(())
}

/// `RandomNormal` and `RandomUniform`: shape and element type are attributes.
pub fn random(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem_attr("dtype").or(Some(ElemType::Float));
    cx.set_elem(0, elem);
    let shape = Shape::known(cx.ints_attr("shape")?);
    cx.set_shape(0, shape);
    Some(())
}

/// Windows for spectra: as long as the input says, of the type `output_datatype`.
pub fn window(cx: &mut Cx) -> Option<()> {
    let size = cx.int_scalar(0);
    let elem = cx.elem_attr("output_datatype").or(Some(ElemType::Float));
    cx.set_dims(0, vec![size]);
    cx.set_elem(0, elem);
    Some(())
}

/// `MelWeightMatrix`: the bins of a one-sided spectrum by the mel bins.
pub fn mel_weight_matrix(cx: &mut Cx) -> Option<()> {
    let bins = one_sided(&cx.int_scalar(1));
    let mel_bins = cx.int_scalar(0);
    let elem = cx.elem_attr("output_datatype").or(Some(ElemType::Float));
    cx.set_dims(0, vec![bins, mel_bins]);
    cx.set_elem(0, elem);
    Some(())
}

fn one_sided(length: &Size) -> Size {
    length.as_ref()?.floor_div(2)?.add(1)
}

/// `DFT`: real or complex numbers in the last axis.
pub fn dft(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axis = match cx.since() {
        ..20 => Some(cx.int_or("axis", 1)),
        _ if cx.has(2) => cx.const_int(2),
        _ => Some(-2),
    };
    let (one_sided_spectrum, inverse) = (cx.flag("onesided"), cx.flag("inverse"));
    let last = dims.len().checked_sub(1)?;
    dims[last] = known(if one_sided_spectrum && inverse { 1 } else { 2 });
    let Some(axis) = axis else {
        if cx.has(1) || one_sided_spectrum {
            dims[..last].fill(None);
        }
        cx.set_dims(0, dims);
        return Some(());
    };
    let axis = cx.axis(axis, dims.len())?;
    let length = match (cx.has(1), one_sided_spectrum && inverse) {
        (true, _) => cx.int_scalar(1),
        (false, false) => dims[axis].clone(),
        (false, true) => (|| dims[axis].as_ref()?.sub(1)?.mul(2))(),
    };
    dims[axis] = if one_sided_spectrum && !inverse { one_sided(&length) } else { length };
    cx.set_dims(0, dims);
    Some(())
}

/// `STFT`: frames of the signal by the bins of their spectra.
pub fn stft(cx: &mut Cx) -> Option<()> {
    let length = match (cx.has(3), cx.has(2)) {
        (true, _) => cx.int_scalar(3),
        (false, true) => cx.dim(2, 0),
        (false, false) => cx.dim(0, 1),
    };
    let frames = (|| {
        let steps = cx.dim(0, 1)?.sub(length.as_ref()?)?.floor_div(cx.int_scalar(1)?)?;
        steps.add(1)
    })();
    let bins = if cx.flag("onesided") { one_sided(&length) } else { length };
    cx.set_dims(0, vec![cx.dim(0, 0), frames, bins, known(2)]);
    Some(())
}

/// `Resize` and `Upsample`: the output has `sizes`, or `floor(input * scale)`.
pub fn resize(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axes = match cx.ints_attr("axes") {
        Some(axes) => cx.axes(axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let with_roi = cx.since() >= 11;
    let sizes = if with_roi && cx.has(3) { Some(resized_to(cx, &dims, &axes)) } else { None };
    let sizes = sizes.unwrap_or_else(|| {
        let scales = scales(cx, if with_roi { 2 } else { 1 });
        let crops = cx.text("coordinate_transformation_mode") == Some("tf_crop_and_resize");
        let scales = scales.filter(|scales| scales.len() == axes.len() && !crops);
        let scaled = |scales: Vec<f64>| {
            let pairs = axes.iter().zip(scales);
            pairs.map(|(&axis, scale)| scaled(&dims[axis], scale)).collect()
        };
        scales.map_or_else(|| vec![None; axes.len()], scaled)
    });
    for (&axis, size) in axes.iter().zip(sizes) {
        dims[axis] = size;
    }
    cx.set_dims(0, dims);
    Some(())
}

fn scales(cx: &Cx, input: usize) -> Option<Vec<f64>> {
    let attr = |name: &str| cx.attr(name)?.as_float().map(f64::from);
    if let Some(scales) = cx.attr("scales").and_then(AttrValue::as_floats) {
        return Some(scales.iter().map(|&scale| f64::from(scale)).collect());
    }
    // `Upsample` of opset 1.
    if let (Some(height), Some(width)) = (attr("height_scale"), attr("width_scale")) {
        return Some(vec![1.0, 1.0, height, width]);
    }
    cx.const_floats(input)
}

/// What the input `sizes` says, under the policy for the aspect ratio.
fn resized_to(cx: &Cx, dims: &[Size], axes: &[usize]) -> Vec<Size> {
    let unknown = || vec![None; axes.len()];
    let Some(sizes) = cx.ints(3).filter(|sizes| sizes.len() == axes.len()) else { return unknown() };
    let pick: fn(f64, f64) -> f64 = match cx.text("keep_aspect_ratio_policy") {
        Some("not_larger") => f64::min,
        Some("not_smaller") => f64::max,
        _ => return sizes,
    };
    let ratio = |(size, &axis): (&Size, &usize)| Some(number(size)? as f64 / number(&dims[axis])? as f64);
    let ratios: Option<Vec<f64>> = sizes.iter().zip(axes).map(ratio).collect();
    let Some(scale) = ratios.and_then(|ratios| ratios.into_iter().reduce(pick)) else { return unknown() };
    let round = |&axis: &usize| known((scale * number(&dims[axis])? as f64 + 0.5).floor() as i64);
    axes.iter().map(round).collect()
}

/// `floor(size * scale)`, computed in `float` where the size is a number, and exactly where the scale is
/// a fraction over a small power of two.
fn scaled(size: &Size, scale: f64) -> Size {
    if let Some(size) = number(size) {
        let product = (size as f32 * scale as f32).floor();
        return (product.abs() < 1e9).then_some(product as i64).and_then(known);
    }
    let denominator = [1i64, 2, 4, 8, 16].into_iter().find(|&d| (scale * d as f64).fract() == 0.0)?;
    let numerator = scale * denominator as f64;
    (numerator.abs() < 1e6).then_some(())?;
    size.as_ref()?.mul(numerator as i64)?.floor_div(denominator)
}
