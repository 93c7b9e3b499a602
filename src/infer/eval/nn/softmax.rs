//! Softmax, log-softmax and hardmax.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::{log_sum_exp, max_or_nan};
use crate::infer::eval::shape::{Split, axis, numel};
use crate::infer::eval::{Array, Refusal, Result};

/// Computes `Softmax`, `LogSoftmax` or `Hardmax` along one axis.
/// Before opset 13, all axes from `axis` on count as one.
pub(super) fn softmax(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let split = if cx.version() >= 13 {
        Split::at(x.shape(), axis(cx.int("axis", -1), x.rank())?)?
    } else {
        // Negative axes count from the last; a positive axis may equal the rank, leaving no axes.
        let at = match cx.int("axis", 1) {
            at if at == x.rank() as i64 => x.rank(),
            at => axis(at, x.rank())?,
        };
        Split { outer: numel(&x.shape()[..at])?, along: numel(&x.shape()[at..])?, inner: 1 }
    };
    let apply = match cx.call.op {
        "Softmax" => softmax_line,
        "LogSoftmax" => log_softmax_line,
        "Hardmax" => hardmax_line,
        _ => return Err(Refusal::Unsupported),
    };
    let mut data = x.f64s()?;
    each_line(&mut data, split, apply);
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

/// Applies a function in place to each line along an axis.
pub(super) fn each_line(data: &mut [f64], split: Split, apply: impl Fn(&mut [f64])) {
    for start in split.lines() {
        let mut line: Vec<f64> = split.line(start).map(|i| data[i]).collect();
        apply(&mut line);
        split.line(start).zip(line).for_each(|(i, value)| data[i] = value);
    }
}

/// Applies softmax in place; the maximum is subtracted first, to avoid overflow.
pub(super) fn softmax_line(line: &mut [f64]) {
    let top = line.iter().copied().fold(f64::NEG_INFINITY, max_or_nan);
    line.iter_mut().for_each(|x| *x = (*x - top).exp());
    let total: f64 = line.iter().sum();
    line.iter_mut().for_each(|x| *x /= total);
}

/// Applies log-softmax in place, without overflow.
pub(super) fn log_softmax_line(line: &mut [f64]) {
    let total = log_sum_exp(line);
    line.iter_mut().for_each(|x| *x -= total);
}

/// Sets the first maximum to one and all else to zero.
fn hardmax_line(line: &mut [f64]) {
    let mut best = 0;
    for i in 1..line.len() {
        if line[i] > line[best] {
            best = i;
        }
    }
    line.iter_mut().enumerate().for_each(|(i, x)| *x = f64::from(u8::from(i == best)));
}
