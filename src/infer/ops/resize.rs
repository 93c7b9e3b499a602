//! Shape rule of `Resize` and its predecessor `Upsample`.

use super::Cx;
use crate::graph::AttrValue;
use crate::infer::shape::{Size, known, number};

/// `Resize` and `Upsample`: the output dimensions are `sizes`, or `floor(input * scale)`.
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

/// Returns the constant scales of an attribute or input.
fn scales(cx: &Cx, input: usize) -> Option<Vec<f64>> {
    let attr = |name: &str| cx.attr(name)?.as_float().map(f64::from);
    if let Some(scales) = cx.attr("scales").and_then(AttrValue::as_floats) {
        return Some(scales.iter().map(|&scale| f64::from(scale)).collect());
    }
    // `Upsample` of opset 1 has one attribute for each spatial scale.
    if let (Some(height), Some(width)) = (attr("height_scale"), attr("width_scale")) {
        return Some(vec![1.0, 1.0, height, width]);
    }
    cx.const_floats(input)
}

/// Returns the sizes of the input `sizes`, adjusted by `keep_aspect_ratio_policy`.
fn resized_to(cx: &Cx, dims: &[Size], axes: &[usize]) -> Vec<Size> {
    let unknown = || vec![None; axes.len()];
    let Some(sizes) = cx.ints(3).filter(|sizes| sizes.len() == axes.len()) else { return unknown() };
    let pick: fn(f64, f64) -> f64 = match cx.text("keep_aspect_ratio_policy") {
        Some("not_larger") => f64::min,
        Some("not_smaller") => f64::max,
        _ => return sizes,
    };
    // ONNX Runtime computes different sizes for negative axes.
    if cx.ints_attr("axes").is_some_and(|axes| axes.iter().any(|&axis| axis < 0)) {
        return unknown();
    }
    let ratio = |(size, &axis): (&Size, &usize)| Some(number(size)? as f64 / number(&dims[axis])? as f64);
    let ratios: Option<Vec<f64>> = sizes.iter().zip(axes).map(ratio).collect();
    let Some(scale) = ratios.and_then(|ratios| ratios.into_iter().reduce(pick)) else { return unknown() };
    let round = |&axis: &usize| known((scale * number(&dims[axis])? as f64 + 0.5).floor() as i64);
    axes.iter().map(round).collect()
}

/// Returns `floor(size * scale)`.
///
/// The product of a static size and the scale is computed in `float`. The product of a symbolic size is exact
/// if the scale is a fraction whose denominator is a small power of two; otherwise, the result is unknown.
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

#[cfg(test)]
mod tests {
    use crate::infer::testing::check;

    #[test]
    fn resize_supports_scales_sizes_and_aspect_ratio_policies() {
        let text = "g (float[n, 3, h, 7] x) => (a, b, c, d) {
            scales = Constant <value_floats = [1.0, 1.0, 2.5, 0.3]> ()
            a = Resize(x, , scales)
            sizes = Constant <value_ints = [5, 6]> ()
            b = Resize <axes = [2, 3]> (x, , , sizes)
            c = Resize <axes = [3], keep_aspect_ratio_policy = \"not_larger\"> (x, , , one)
            d = Resize <axes = [-1], keep_aspect_ratio_policy = \"not_larger\"> (x, , , one)
            one = Constant <value_ints = [3]> ()
        }";
        let known = ["a: float[n, 3, 2*h + floor(h / 2), 2]", "b: float[n, 3, 5, 6]", "c: float[n, 3, h, 3]"];
        check(text, &[known[0], known[1], known[2], "d: float[n, 3, h, d_dim_3]"]);
        let upsample = "<ir_version: 6, opset_import: [\"\" : 7]> g (float[n, 3, h, 7] x) => (y) {
            y = Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (x)
        }";
        check(upsample, &["y: float[n, 3, 2*h, 14]"]);
    }

    /// Old exporters compute scales as quotients of sizes.
    #[test]
    fn scales_computed_from_sizes_are_simplified() {
        let text = "g (float[n, 3, h, w] x) => (y) {
            shape = Shape <start = 2> (x)
            two = Constant <value_ints = [2]> ()
            doubled = Mul(shape, two)
            above = Cast <to = 1> (doubled)
            below = Cast <to = 1> (shape)
            ratio = Div(above, below)
            ones = Constant <value_floats = [1.0, 1.0]> ()
            scales = Concat <axis = 0> (ones, ratio)
            y = Resize(x, , scales)
        }";
        check(text, &["y: float[n, 3, 2*h, 2*w]"]);
    }
}
