//! Window functions and mel filters.

use std::f64::consts::TAU;

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::elem_attr;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

const ABSENT: Refusal = Refusal::BadInput("a required input is absent");

/// Computes `HannWindow`, `HammingWindow` or `BlackmanWindow` as a sum of cosines.
///
/// A periodic window is a symmetric window of `size + 1` without its last element.
pub(super) fn window(cx: &Cx) -> Result<Array> {
    let size = to_size(cx.scalar_int(0)?.ok_or(ABSENT)?)?;
    cx.room(&[size])?;
    let [a, b, c] = match cx.call.op {
        "HannWindow" => [0.5, 0.5, 0.0],
        "HammingWindow" => [25.0 / 46.0, 21.0 / 46.0, 0.0],
        "BlackmanWindow" => [0.42, 0.5, 0.08],
        _ => return Err(Refusal::Unsupported),
    };
    let span = if cx.flag("periodic", true)? { size } else { size.saturating_sub(1) };
    if span == 0 && size > 0 {
        return Err(Refusal::Unsupported);
    }
    let at = |i: usize| {
        let turn = TAU * i as f64 / span as f64;
        a - b * turn.cos() + c * (2.0 * turn).cos()
    };
    let elem = elem_attr(cx, "output_datatype")?.unwrap_or(ElemType::Float);
    if elem.is_integer() {
        // The center of the window is nearly 1: rounding errors decide whether it truncates to 1 or 0.
        return Err(Refusal::Unsupported);
    }
    Array::from_f64s(elem, vec![size], (0..size).map(at).collect())
}

fn to_mel(hertz: f64) -> f64 {
    2595.0 * (1.0 + hertz / 700.0).log10()
}

fn to_hertz(mel: f64) -> f64 {
    700.0 * (10f64.powf(mel / 2595.0) - 1.0)
}

/// Returns true if a nonzero number is whole except for rounding errors.
fn is_nearly_whole(x: f64) -> bool {
    x != 0.0 && (x - x.round()).abs() <= 1e-9 * x.abs()
}

/// Computes `MelWeightMatrix`: triangular filters, evenly spaced in mel, one column per band.
pub(super) fn mel_weight_matrix(cx: &Cx) -> Result<Array> {
    let integer = |i| to_size(cx.scalar_int(i)?.ok_or(ABSENT)?);
    let (bands, length, rate) = (integer(0)?, integer(1)?, integer(2)?);
    let (low, high) = (to_mel(cx.scalar(3)?.ok_or(ABSENT)?), to_mel(cx.scalar(4)?.ok_or(ABSENT)?));
    let shape = vec![length / 2 + 1, bands];
    let mut weights = vec![0.0; cx.room(&shape)?];
    if rate == 0 {
        return bad("the sample rate must not be 0");
    }
    let step = (high - low) / (bands + 2) as f64;
    let edge = |i| (length + 1) as f64 * to_hertz(low + i as f64 * step) / rate as f64;
    if (0..bands + 2).map(edge).any(is_nearly_whole) {
        // If the position of an edge is nearly a whole number, rounding decides into which bin it falls.
        return Err(Refusal::Unsupported);
    }
    let edges: Vec<f64> = (0..bands + 2).map(|i| edge(i).floor()).collect();
    if !edges.iter().all(|&edge| (0.0..=(length / 2) as f64).contains(&edge)) {
        return bad("a frequency is outside the spectrum");
    }
    let edges: Vec<usize> = edges.into_iter().map(|edge| edge as usize).collect();
    for (band, edge) in edges.windows(3).enumerate() {
        let (left, centre, right) = (edge[0], edge[1], edge[2]);
        let slope = |at: usize, from: usize, to: usize| match from == to {
            true => 1.0,
            false => at.abs_diff(from) as f64 / to.abs_diff(from) as f64,
        };
        (left..=centre).for_each(|at| weights[at * bands + band] = slope(at, left, centre));
        (centre..right).for_each(|at| weights[at * bands + band] = slope(at, right, centre));
    }
    let elem = elem_attr(cx, "output_datatype")?.unwrap_or(ElemType::Float);
    Array::from_f64s(elem, shape, weights)
}
