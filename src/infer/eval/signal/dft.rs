//! Discrete Fourier transforms, computed directly from the definition.

use std::f64::consts::TAU;

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{Split, axis, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Real and imaginary parts of a complex number.
type Complex = (f64, f64);

/// Returns the first `bins` values of the unscaled transform of `line`.
fn transform(line: &[Complex], bins: usize, inverse: bool) -> Vec<Complex> {
    let n = line.len();
    let sign = if inverse { 1.0 } else { -1.0 };
    let roots: Vec<Complex> = (0..n)
        .map(|k| {
            let (sin, cos) = (sign * TAU * k as f64 / n as f64).sin_cos();
            (cos, sin)
        })
        .collect();
    (0..bins)
        .map(|k| {
            let terms = line.iter().enumerate().map(|(i, &(re, im))| {
                let (cos, sin) = roots[k * i % n];
                (re * cos - im * sin, re * sin + im * cos)
            });
            terms.fold((0.0, 0.0), |(re, im), term| (re + term.0, im + term.1))
        })
        .collect()
}

/// Completes the spectrum of a real signal of length `n` from its first half.
fn mirrored(half: &[Complex], n: usize) -> Vec<Complex> {
    let at = |k: usize| half.get(k).copied().unwrap_or_default();
    (0..n).map(|k| if k <= n / 2 { at(k) } else { (at(n - k).0, -at(n - k).1) }).collect()
}

/// Computes `DFT`.
///
/// The last axis holds one real number, or a real and an imaginary part. Before opset 20, the axis of the
/// transform is an attribute.
pub(super) fn dft(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let Some(&parts) = x.shape().last() else { return bad("the input must not be a scalar") };
    let default = if cx.version() < 20 { 1 } else { -2 };
    let along = axis(cx.scalar_int(2)?.unwrap_or(cx.int("axis", default)), x.rank())?;
    let (inverse, onesided) = (cx.flag("inverse", false)?, cx.flag("onesided", false)?);
    let valid = matches!(parts, 1 | 2) && along + 1 < x.rank() && !(onesided && !inverse && parts == 2);
    if !valid {
        return bad("the axis or attributes of the transform do not match the input");
    }
    let real_output = onesided && inverse;
    let given = x.shape()[along];
    let n = match cx.scalar_int(1)? {
        Some(n) => to_size(n)?,
        None if real_output => given.saturating_sub(1).saturating_mul(2),
        None => given,
    };
    let bins = if onesided && !inverse { n / 2 + 1 } else { n };
    let mut shape = x.shape().to_vec();
    shape[along] = bins;
    if let Some(last) = shape.last_mut() {
        *last = if real_output { 1 } else { 2 };
    }
    if n == 0 {
        return Err(Refusal::Unsupported);
    }
    let mut y = vec![0.0; cx.room(&shape)?];
    let (from, to) = (Split::at(x.shape(), along)?, Split::at(&shape, along)?);
    cx.work(&[from.outer, from.inner / parts, bins, n])?;
    let values = x.f64s()?;
    let lines = (0..from.outer).flat_map(|o| (0..from.inner / parts).map(move |i| (o, i)));
    for (outer, inner) in lines {
        let start = outer * from.along * from.inner + inner * parts;
        let element = |i: usize| {
            let at = start + i * from.inner;
            (values[at], if parts == 2 { values[at + 1] } else { 0.0 })
        };
        let mut line: Vec<Complex> = (0..given).map(element).collect();
        match real_output {
            true => line = mirrored(&line, n),
            false => line.resize(n, (0.0, 0.0)),
        }
        let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
        let width = if real_output { 1 } else { 2 };
        for (k, (re, im)) in transform(&line, bins, inverse).into_iter().enumerate() {
            let at = outer * to.along * to.inner + k * to.inner + inner * width;
            y[at] = re * scale;
            if width == 2 {
                y[at + 1] = im * scale;
            }
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}

/// Computes `STFT`: transforms windowed frames of a real or complex signal.
pub(super) fn stft(cx: &Cx) -> Result<Array> {
    let signal = cx.tensor(0)?;
    let &[batch, length, parts @ (1 | 2)] = signal.shape() else {
        return bad("the signal must have the shape [batch, length, 1 or 2]");
    };
    let step = to_size(cx.scalar_int(1)?.unwrap_or(0))?;
    if cx.maybe(2)?.is_some_and(|window| window.rank() != 1) {
        return bad("the window must have rank 1");
    }
    let window = cx.maybe(2)?.map(Array::f64s).transpose()?;
    let frame = match (cx.scalar_int(3)?, &window) {
        (Some(frame), _) => to_size(frame)?,
        (None, Some(window)) => window.len(),
        (None, None) => length,
    };
    let onesided = cx.flag("onesided", true)?;
    if step == 0 || frame == 0 || frame > length || window.as_ref().is_some_and(|w| w.len() != frame) {
        return bad("the frame length, the step or the window does not match the signal");
    }
    if onesided && parts == 2 {
        return bad("`onesided` is not supported for a complex signal");
    }
    let (frames, bins) = ((length - frame) / step + 1, if onesided { frame / 2 + 1 } else { frame });
    let shape = vec![batch, frames, bins, 2];
    cx.room(&shape)?;
    cx.work(&[batch, frames, bins, frame])?;
    let values = signal.f64s()?;
    let mut y = Vec::new();
    for (n, f) in (0..batch).flat_map(|n| (0..frames).map(move |f| (n, f))) {
        let element = |i: usize| {
            let at = (n * length + f * step + i) * parts;
            let weight = window.as_ref().map_or(1.0, |window| window[i]);
            (values[at] * weight, if parts == 2 { values[at + 1] * weight } else { 0.0 })
        };
        let line: Vec<Complex> = (0..frame).map(element).collect();
        y.extend(transform(&line, bins, false).into_iter().flat_map(|(re, im)| [re, im]));
    }
    Array::from_f64s(signal.elem(), shape, y)
}
