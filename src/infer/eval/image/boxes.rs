//! Box selection (non-maximum suppression).

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// If overlap and limit differ by less than this constant, rounding may decide which is greater.
/// A call with an overlap this close to the limit is refused, unless both are equal or the limit is 0.
const NEAR: f64 = 1e-5;

/// Returns the corners of a box: top, left, bottom, right.
/// Computed corners are rounded to `float`, as in runtimes, because rounding may decide whether boxes touch.
fn corners(values: &[f64], centred: bool) -> [f64; 4] {
    let [a, b, c, d] = [values[0], values[1], values[2], values[3]];
    match centred {
        // The values are the center and the size of the box, x before y.
        true => [b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0].map(|x| f64::from(x as f32)),
        false => [a.min(c), b.min(d), a.max(c), b.max(d)],
    }
}

/// Returns the intersection over union.
fn overlap(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let area = |x: &[f64; 4]| (x[2] - x[0]) * (x[3] - x[1]);
    let shared = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0) * (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let union = area(a) + area(b) - shared;
    if union > 0.0 { shared / union } else { 0.0 }
}

/// Computes `NonMaxSuppression`: selects the boxes of highest score per batch and class.
/// A box that overlaps a selected one by more than the threshold is dropped. Each result row contains the
/// indices of batch, class and box.
pub(super) fn non_max_suppression(cx: &Cx) -> Result<Array> {
    let (boxes, scores) = (cx.tensor(0)?, cx.tensor(1)?);
    let (&[batch, count, 4], &[batches, classes, scored]) = (boxes.shape(), scores.shape()) else {
        return bad("boxes and scores must have rank 3, and boxes 4 coordinates");
    };
    if (batch, count) != (batches, scored) {
        return bad("the numbers of boxes and scores differ");
    }
    let limit = to_size(cx.scalar_int(2)?.unwrap_or(0).max(0))?;
    let (most, least) = (cx.scalar(3)?.unwrap_or(0.0), cx.scalar(4)?);
    let centred = cx.flag("center_point_box", false)?;
    cx.work(&[batch, classes, count, count.min(limit).max(1)])?;
    let (corner_values, scores) = (boxes.f64s()?, scores.f64s()?);
    let boxes: Vec<[f64; 4]> = corner_values.chunks(4).map(|values| corners(values, centred)).collect();
    let mut rows = Vec::new();
    for line in 0..batch * classes {
        let (n, class) = (line / classes, line % classes);
        let score = |i: &usize| scores[line * count + i];
        let mut order: Vec<usize> =
            (0..count).filter(|i| least.is_none_or(|least| score(i) > least)).collect();
        // Adding 0.0 turns −0 into +0, so that both zeros compare as equal.
        order.sort_by(|a, b| (score(b) + 0.0).total_cmp(&(score(a) + 0.0)));
        let mut kept: Vec<usize> = Vec::new();
        for candidate in order {
            if kept.len() == limit {
                break;
            }
            let of = |i: usize| &boxes[n * count + i];
            let overlaps: Vec<f64> = kept.iter().map(|&better| overlap(of(candidate), of(better))).collect();
            if most > 0.0 && overlaps.iter().any(|overlap| (overlap - most).abs() < NEAR && *overlap != most)
            {
                return Err(Refusal::Unsupported);
            }
            if overlaps.iter().all(|overlap| *overlap <= most) {
                kept.push(candidate);
                rows.extend([n as i64, class as i64, candidate as i64]);
            }
        }
    }
    Array::i64s(vec![rows.len() / 3, 3], rows)
}
