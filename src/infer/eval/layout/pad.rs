//! Padding and cropping.

use super::by_axis::{Places, by_axis, whole};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{axes, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Pad`. Since opset 11, the pads are an input.
/// Before opset 11, the pads are the attribute `pads` (in opset 1, `paddings`).
pub(super) fn pad(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let pads = cx.ints_at(1, "pads")?.or_else(|| cx.ints("paddings"));
    let pads = pads.ok_or(Refusal::BadInput("the pads are required"))?;
    let named = match cx.maybe(3)? {
        Some(values) => axes(&values.as_i64s()?, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    if pads.len() != 2 * named.len() {
        return bad("the pads must have two entries per axis");
    }
    let fill = match (cx.maybe(2)?, cx.float_attr("value")) {
        (Some(value), _) if value.len() != 1 => return bad("the padding value must be a scalar"),
        (Some(value), _) => Some(value.clone()),
        (None, Some(value)) => Some(Array::from_f64s(x.elem(), vec![1], vec![value])?),
        (None, None) => None,
    };
    let mode = cx.text("mode", "constant");
    let mut places: Vec<Places> = x.shape().iter().map(|&dim| whole(dim)).collect();
    for (i, &at) in named.iter().enumerate() {
        let (before, after) = (pads[i], pads[i + named.len()]);
        places[at] = padded(cx, x.shape()[at], before, after, &mode)?;
    }
    by_axis(cx, x, &places, fill.as_ref())
}

/// Returns the source indices of a padded axis; negative pads crop.
fn padded(cx: &Cx, dim: usize, before: i64, after: i64, mode: &str) -> Result<Places> {
    let n = dim as i64;
    let end = n.checked_add(after).ok_or(Refusal::TooLarge)?;
    let start = before.checked_neg().ok_or(Refusal::TooLarge)?;
    if end < start {
        return bad("negative pads exceed the size of the axis");
    }
    if end.saturating_sub(start) > cx.budget.elements as i64 {
        return Err(Refusal::TooLarge);
    }
    if mode != "constant" && end > start && start.max(0) >= end.min(n) {
        return bad("an axis without remaining elements cannot be padded in this mode");
    }
    // Reflection and wrapping use only the elements that negative pads leave.
    let (low, high) = (start.max(0), end.min(n));
    let place = |i: i64| match mode {
        "edge" => Some(i.clamp(0, n - 1)),
        "wrap" => Some(low + (i - low).rem_euclid((high - low).max(1))),
        "reflect" => Some(reflect(i, low, high - 1)),
        _ => Some(i).filter(|i| (0..n).contains(i)),
    };
    match mode {
        "constant" | "edge" | "wrap" | "reflect" => {
            Ok((start..end).map(|i| place(i).map(|i| i as usize)).collect())
        }
        _ => bad("unknown value of `mode`"),
    }
}

/// Reflects `i` at `low` and `high` until it lies between; the two ends are not repeated.
fn reflect(i: i64, low: i64, high: i64) -> i64 {
    let period = 2 * (high - low);
    if period <= 0 {
        return low;
    }
    let i = (i - low).rem_euclid(period);
    low + i.min(period - i)
}

/// Computes `CenterCropPad` with zeros; an odd element is added or removed at the end.
pub(super) fn center_crop_pad(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let wanted = to_sizes(&cx.tensor(1)?.as_i64s()?)?;
    let named = match cx.ints("axes") {
        Some(values) => axes(&values, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    if named.len() != wanted.len() {
        return bad("the sizes must have one entry per axis");
    }
    let mut places: Vec<Places> = x.shape().iter().map(|&dim| whole(dim)).collect();
    for (&at, &to) in named.iter().zip(&wanted) {
        let dim = x.shape()[at];
        cx.room(&[to])?;
        let (cut, lead) = (dim.saturating_sub(to) / 2, to.saturating_sub(dim) / 2);
        let place = |i: usize| (i + cut).checked_sub(lead).filter(|&i| i < dim);
        places[at] = (0..to).map(place).collect();
    }
    by_axis(cx, x, &places, None)
}

#[cfg(test)]
mod tests {
    use super::reflect;

    #[test]
    fn reflect_bounces_between_the_ends() {
        let seen: Vec<i64> = (-4..6).map(|i| reflect(i, 0, 2)).collect();
        assert_eq!(seen, [0, 1, 2, 1, 0, 1, 2, 1, 0, 1]);
        assert_eq!(reflect(7, 0, 0), 0);
    }
}
