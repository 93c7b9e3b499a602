//! `Resize` and `Upsample`.

use super::kernel::{Interpolation, Weighted, normalized};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::by_axis;
use crate::infer::eval::shape::{Split, axes, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Resize parameters of one axis.
struct Axis {
    length: usize,
    resized: usize,
    scale: f64,
    /// Start and end of the region of interest, relative to the axis length.
    region: (f64, f64),
}

/// Computes `Resize`; refuses calls on which runtimes are known to disagree.
pub(super) fn resize(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    // Before opset 11 the scales are the second input, and the semantics are those of `Upsample`.
    if cx.version() < 11 {
        return upsample(cx);
    }
    let transformation = cx.text("coordinate_transformation_mode", "half_pixel");
    let resized = sizes(cx, x, &transformation)?;
    let shape: Vec<usize> = resized.iter().map(|axis| axis.resized).collect();
    cx.room(&shape)?;
    is_no_copy(&resized)?;
    let crops = transformation == "tf_crop_and_resize";
    let is_nearest = cx.text("mode", "nearest") == "nearest";
    let round_to = precision(is_nearest);
    let coordinates = resized
        .iter()
        .map(|axis| {
            (0..axis.resized).map(|at| coordinate(&transformation, axis, at as f64, round_to)).collect()
        })
        .collect::<Result<Vec<Vec<f64>>>>()?;
    if !is_nearest {
        return interpolated(cx, x, &resized, &coordinates, crops);
    }
    let nearest = cx.text("nearest_mode", "round_prefer_floor");
    let fill = Array::from_f64s(x.elem(), vec![1], vec![cx.float("extrapolation_value", 0.0)]).ok();
    let places: Vec<_> = resized
        .iter()
        .zip(&coordinates)
        .map(|(axis, coordinates)| {
            let inside = |&at: &f64| !crops || outside(axis, at).is_none();
            let place =
                |at: &f64| Ok(inside(at).then_some(round(&nearest, *at)?.clamp(0, axis.last()) as usize));
            coordinates.iter().map(place).collect::<Result<Vec<_>>>()
        })
        .collect::<Result<_>>()?;
    by_axis(cx, x, &places, fill.as_ref())
}

impl Axis {
    /// Returns the index of the last element; 0 if the axis is empty.
    fn last(&self) -> i64 {
        self.length.saturating_sub(1) as i64
    }
}

/// Fails if all sizes are unchanged but a scale is not 1.
/// If all sizes are unchanged, ONNX Runtime ignores the scales, and copies the input.
fn is_no_copy(all: &[Axis]) -> Result<()> {
    let keeps_sizes = all.iter().all(|axis| axis.resized == axis.length);
    match keeps_sizes && all.iter().any(|axis| axis.scale != 1.0) {
        true => Err(Refusal::Unsupported),
        false => Ok(()),
    }
}

/// Returns `Some` if the coordinate is outside the axis.
fn outside(axis: &Axis, at: f64) -> Option<()> {
    (at < 0.0 || at > axis.last() as f64).then_some(())
}

fn round(mode: &str, at: f64) -> Result<i64> {
    Ok(match mode {
        "round_prefer_floor" => (at - 0.5).ceil(),
        "round_prefer_ceil" => (at + 0.5).floor(),
        "floor" => at.floor(),
        "ceil" => at.ceil(),
        _ => return bad("unknown value of `nearest_mode`"),
    } as i64)
}

/// Computes `Upsample`.
/// Version 1 has two attributes for the scales of height and width; version 7 has one attribute, and
/// version 9 has one input, for the scales of all axes.
pub(super) fn upsample(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let scales = match (cx.maybe(1)?, cx.floats("scales")) {
        (Some(scales), _) if scales.rank() != 1 => return bad("the scales must have rank 1"),
        (Some(scales), _) => scales.f64s()?,
        (None, Some(scales)) => scales,
        (None, None) => vec![1.0, 1.0, cx.float("height_scale", 1.0), cx.float("width_scale", 1.0)],
    };
    if scales.len() != x.rank() || !scales.iter().all(|&scale| scale > 0.0) {
        return bad("the scales must have one positive entry per axis");
    }
    if cx.call.op == "Upsample" && scales.iter().any(|&scale| scale < 1.0) {
        return bad("the scales of Upsample must not be less than 1");
    }
    let resized = x
        .shape()
        .iter()
        .zip(scales)
        .map(|(&length, scale)| {
            Ok(Axis { length, resized: scaled(length, scale)?, scale, region: (0.0, 1.0) })
        })
        .collect::<Result<Vec<Axis>>>()?;
    cx.room(&resized.iter().map(|axis| axis.resized).collect::<Vec<_>>())?;
    is_no_copy(&resized)?;
    let is_nearest = cx.text("mode", "nearest") == "nearest";
    let round_to = precision(is_nearest);
    let coordinates: Vec<Vec<f64>> = resized
        .iter()
        .map(|axis| (0..axis.resized).map(|at| round_to(at as f64 / axis.scale)).collect())
        .collect();
    if !is_nearest {
        return interpolated(cx, x, &resized, &coordinates, false);
    }
    // The specification does not define how coordinates become indices. ONNX Runtime rounds up along an axis
    // that shrinks, and down along any other axis.
    let near = |axis: &Axis, at: f64| if axis.scale < 1.0 { at.ceil() } else { at.floor() };
    let place = |axis: &Axis, at: &f64| Some((near(axis, *at) as i64).clamp(0, axis.last()) as usize);
    let places: Vec<_> = resized
        .iter()
        .zip(&coordinates)
        .map(|(axis, coordinates)| coordinates.iter().map(|at| place(axis, at)).collect())
        .collect();
    by_axis(cx, x, &places, None)
}

/// Returns ⌊length · scale⌋.
/// Fails if `f32` and `f64`, and therefore runtimes, give different results, or if the result is no size.
fn scaled(length: usize, scale: f64) -> Result<usize> {
    let (wide, narrow) = ((length as f64 * scale).floor(), (length as f32 * scale as f32).floor());
    match wide == f64::from(narrow) && (0.0..1e15).contains(&wide) {
        true => Ok(wide as usize),
        false => Err(Refusal::Unsupported),
    }
}

fn sizes(cx: &Cx, x: &Array, transformation: &str) -> Result<Vec<Axis>> {
    let rank = x.rank();
    let named = match cx.ints("axes") {
        Some(values) => axes(&values, rank)?,
        None => (0..rank).collect(),
    };
    let whole = |&length: &usize| Axis { length, resized: length, scale: 1.0, region: (0.0, 1.0) };
    let mut all: Vec<Axis> = x.shape().iter().map(whole).collect();
    let filled = |i| match cx.maybe(i)?.filter(|array| !array.is_empty()) {
        Some(list) if list.rank() != 1 => bad("the scales, sizes and region of interest must have rank 1"),
        list => Ok(list),
    };
    let crops = transformation == "tf_crop_and_resize";
    if let Some(roi) = filled(1)?.filter(|_| crops) {
        let roi = roi.f64s()?;
        if roi.len() != 2 * named.len() {
            return bad("the region of interest must have two entries per axis");
        }
        named.iter().enumerate().for_each(|(i, &at)| all[at].region = (roi[i], roi[i + named.len()]));
    }
    match (filled(2)?, filled(3)?) {
        (Some(scales), None) => {
            let scales = scales.f64s()?;
            if scales.len() != named.len() || scales.iter().any(|&scale| scale.is_nan() || scale <= 0.0) {
                return bad("the scales must have one positive entry per axis");
            }
            for (&at, &scale) in named.iter().zip(&scales) {
                let (start, end) = all[at].region;
                all[at].scale = scale;
                all[at].resized = scaled(all[at].length, if crops { scale * (end - start) } else { scale })?;
            }
        }
        (None, Some(sizes)) => {
            let sizes = sizes.as_i64s()?.into_iter().map(to_size).collect::<Result<Vec<_>>>()?;
            fit(cx, &mut all, &named, &sizes)?;
        }
        _ => return bad("exactly one of scales and sizes must be given"),
    }
    Ok(all)
}

/// Applies the target sizes, keeping the aspect ratio if the policy requires it.
fn fit(cx: &Cx, all: &mut [Axis], named: &[usize], sizes: &[usize]) -> Result<()> {
    if sizes.len() != named.len() {
        return bad("the sizes must have one entry per axis");
    }
    if named.iter().zip(sizes).any(|(&at, &size)| all[at].length == 0 && size > 0) {
        return bad("an empty axis must not be resized");
    }
    let policy = cx.text("keep_aspect_ratio_policy", "stretch");
    // ONNX Runtime computes different sizes for negative axes.
    if policy != "stretch" && cx.ints("axes").is_some_and(|axes| axes.iter().any(|&axis| axis < 0)) {
        return Err(Refusal::Unsupported);
    }
    let ratios = named.iter().zip(sizes).map(|(&at, &size)| size as f64 / all[at].length as f64);
    let common = match policy.as_str() {
        "stretch" => None,
        "not_larger" => Some(ratios.fold(f64::INFINITY, f64::min)),
        "not_smaller" => Some(ratios.fold(0.0, f64::max)),
        _ => return bad("unknown value of `keep_aspect_ratio_policy`"),
    };
    for (&at, &size) in named.iter().zip(sizes) {
        let axis = &mut all[at];
        match common {
            Some(scale) => {
                axis.scale = scale;
                axis.resized = (scale * axis.length as f64 + 0.5).floor() as usize;
            }
            None => {
                axis.scale = if axis.length == 0 { 1.0 } else { size as f64 / axis.length as f64 };
                axis.resized = size;
            }
        }
    }
    Ok(())
}

fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// Maps an index of the resized axis to a coordinate of the original axis.
/// Except for `tf_crop_and_resize`, each step is rounded by `r`.
fn coordinate(transformation: &str, axis: &Axis, at: f64, r: fn(f64) -> f64) -> Result<f64> {
    let (length, resized, scale) = (axis.length as f64, axis.resized as f64, r(axis.scale));
    let half_pixel = r(r(r(at + 0.5) / scale) - 0.5);
    Ok(match transformation {
        "half_pixel" => half_pixel,
        "half_pixel_symmetric" => {
            let adjustment = r(resized / r(scale * length));
            r(r(length / 2.0 * r(1.0 - adjustment)) + half_pixel)
        }
        "pytorch_half_pixel" => {
            if resized > 1.0 {
                half_pixel
            } else {
                0.0
            }
        }
        // The specification and its reference disagree on whether the resized length is the integer or the
        // product with the scale.
        "align_corners" if scale * length != resized && (scale * length - resized).abs() > 1e-4 => {
            return Err(Refusal::Unsupported);
        }
        "align_corners" => {
            if resized > 1.0 {
                r(r(at * (length - 1.0)) / (resized - 1.0))
            } else {
                0.0
            }
        }
        "asymmetric" => r(at / scale),
        "tf_crop_and_resize" => {
            let (start, end) = axis.region;
            let at = match resized > 1.0 {
                true => start * (length - 1.0) + at * (end - start) * (length - 1.0) / (resized - 1.0),
                false => 0.5 * (start + end) * (length - 1.0),
            };
            // Runtimes ignore the region along an axis of scale 1. Rounding decides whether a coordinate is
            // inside the axis if it is close to an edge, but not exactly on it.
            let is_kept = axis.scale == 1.0 && axis.region != (0.0, 1.0);
            let is_near = |edge: f64| at != edge && (at - edge).abs() < 1e-5;
            if is_kept || is_near(0.0) || is_near(length - 1.0) {
                return Err(Refusal::Unsupported);
            }
            at
        }
        _ => return bad("unknown value of `coordinate_transformation_mode`"),
    })
}

/// Returns the rounding of coordinates: nearest-element selection uses `float`, as in runtimes.
fn precision(is_nearest: bool) -> fn(f64) -> f64 {
    if is_nearest { single } else { |x| x }
}

/// Interpolates along one axis after the other.
fn interpolated(
    cx: &Cx,
    x: &Array,
    resized: &[Axis],
    coordinates: &[Vec<f64>],
    crops: bool,
) -> Result<Array> {
    if !x.elem().is_float() {
        // The specification does not define how fractions become integers.
        return Err(Refusal::Unsupported);
    }
    let interpolation = match cx.text("mode", "nearest").as_str() {
        "linear" | "bilinear" => Interpolation::Linear,
        "cubic" => Interpolation::Cubic(cx.float("cubic_coeff_a", -0.75)),
        _ => return bad("unknown value of `mode`"),
    };
    let (antialias, exclude) = (cx.flag("antialias", false)?, cx.flag("exclude_outside", false)?);
    let beyond = cx.float("extrapolation_value", 0.0);
    let (mut shape, mut data) = (x.shape().to_vec(), x.f64s()?);
    for (i, axis) in resized.iter().enumerate() {
        if axis.length == axis.resized && !crops && axis.scale == 1.0 {
            continue;
        }
        let stretch = if antialias { axis.scale.min(1.0) } else { 1.0 };
        let taps = coordinates[i].iter().map(|&at| match outside(axis, at).filter(|()| crops) {
            Some(()) => None,
            None => Some(taps(interpolation.weights(at - at.floor(), stretch), at, axis, exclude)),
        });
        let taps: Vec<Option<Vec<Weighted>>> = taps.collect();
        let from = Split::at(&shape, i)?;
        shape[i] = axis.resized;
        cx.work(&[cx.room(&shape)?, taps.iter().flatten().map(Vec::len).max().unwrap_or(1)])?;
        data = along_axis(&data, from, &taps, beyond);
    }
    Array::from_f64s(x.elem(), shape, data)
}

/// Returns the elements to read along an axis, with their weights.
/// Positions outside the axis are replaced by the nearest element or, with `exclude`, dropped.
fn taps(weights: Vec<Weighted>, at: f64, axis: &Axis, exclude: bool) -> Vec<Weighted> {
    let base = at.floor() as i64;
    let places = weights.into_iter().map(|(i, weight)| (base + i, weight));
    match exclude {
        true => normalized(places.filter(|(at, _)| (0..=axis.last()).contains(at)).collect()),
        false => places.map(|(at, weight)| (at.clamp(0, axis.last()), weight)).collect(),
    }
}

fn along_axis(data: &[f64], from: Split, taps: &[Option<Vec<Weighted>>], beyond: f64) -> Vec<f64> {
    let mut result = Vec::with_capacity(from.outer * taps.len() * from.inner);
    for outer in 0..from.outer {
        for tap in taps {
            for inner in 0..from.inner {
                let start = outer * from.along * from.inner + inner;
                let value = tap.as_ref().map_or(beyond, |tap| {
                    tap.iter().map(|&(i, weight)| data[start + i as usize * from.inner] * weight).sum()
                });
                result.push(value);
            }
        }
    }
    result
}
