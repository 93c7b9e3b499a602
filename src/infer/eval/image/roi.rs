//! Region-of-interest pooling.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{index, to_size, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

const OUT_OF_RANGE: Refusal = Refusal::BadInput("a batch index is out of range");

/// Returns the four elements around a point and their weights.
/// If the point is more than one element outside the image, returns one element with zero weight.
fn corners(y: f64, x: f64, height: usize, width: usize) -> Result<Vec<(usize, f64)>> {
    // If a point is almost exactly one element outside the image, rounding decides whether it has weight.
    let is_near = |at: f64, edge: f64| at != edge && (at - edge).abs() < 1e-5;
    let is_at_edge = |at: f64, length: usize| is_near(at, -1.0) || is_near(at, length as f64);
    if is_at_edge(y, height) || is_at_edge(x, width) {
        return Err(Refusal::Unsupported);
    }
    if y < -1.0 || y > height as f64 || x < -1.0 || x > width as f64 {
        return Ok(vec![(0, 0.0)]);
    }
    let place = |at: f64, length: usize| {
        let at = at.max(0.0);
        let low = (at as usize).min(length - 1);
        match low + 1 < length {
            true => (low, low + 1, at - low as f64),
            false => (low, low, 0.0),
        }
    };
    let ((top, bottom, down), (left, right, across)) = (place(y, height), place(x, width));
    Ok(vec![
        (top * width + left, (1.0 - down) * (1.0 - across)),
        (top * width + right, (1.0 - down) * across),
        (bottom * width + left, down * (1.0 - across)),
        (bottom * width + right, down * across),
    ])
}

/// Computes `RoiAlign`; refuses samples for which rounding decides whether they are inside the image.
pub(super) fn roi_align(cx: &Cx) -> Result<Array> {
    let (x, rois) = (cx.tensor(0)?, cx.tensor(1)?);
    let (&[batch, channels, height, width], &[count, 4]) = (x.shape(), rois.shape()) else {
        return bad("the image must have rank 4, and the regions must have the shape [count, 4]");
    };
    let batches = cx.tensor(2)?.as_i64s()?;
    let rows = to_size(cx.int("output_height", 1))?;
    let columns = to_size(cx.int("output_width", 1))?;
    let shape = vec![count, channels, rows, columns];
    cx.room(&shape)?;
    if batches.len() != count || height == 0 || width == 0 {
        return bad("the batch indices do not match the regions, or the image is empty");
    }
    let largest = match cx.text("mode", "avg").as_str() {
        "avg" => false,
        "max" => true,
        _ => return bad("unknown value of `mode`"),
    };
    // Version 10 does not shift by half a pixel.
    let default = if cx.version() < 16 { "output_half_pixel" } else { "half_pixel" };
    let shifts = cx.text("coordinate_transformation_mode", default) == "half_pixel";
    let (scale, ratio) = (cx.float("spatial_scale", 1.0), to_size(cx.int("sampling_ratio", 0))?);
    let (values, boxes) = (x.f64s()?, rois.f64s()?);
    let mut y = Vec::new();
    for r in 0..count {
        let image = index(batches[r], batch).ok_or(OUT_OF_RANGE)?;
        let edge = |i: usize| boxes[r * 4 + i] * scale - if shifts { 0.5 } else { 0.0 };
        let (left, top) = (edge(0), edge(1));
        let least = if shifts { f64::NEG_INFINITY } else { 1.0 };
        let (across, down) = ((edge(2) - left).max(least), (edge(3) - top).max(least));
        let (cell_height, cell_width) = (down / rows as f64, across / columns as f64);
        let samples = |cell: f64| if ratio > 0 { ratio } else { cell.ceil().max(0.0) as usize };
        let (vertical, horizontal) = (samples(cell_height), samples(cell_width));
        cx.work(&[channels, rows, columns, vertical.saturating_mul(horizontal)])?;
        let cells: Vec<Vec<Vec<(usize, f64)>>> = (0..rows * columns)
            .map(|cell| {
                let (row, column) = ((cell / columns) as f64, (cell % columns) as f64);
                let sample = |i: usize| {
                    let (v, h) = ((i / horizontal) as f64 + 0.5, (i % horizontal) as f64 + 0.5);
                    let at_y = top + (row + v / vertical as f64) * cell_height;
                    let at_x = left + (column + h / horizontal as f64) * cell_width;
                    corners(at_y, at_x, height, width)
                };
                (0..vertical * horizontal).map(sample).collect()
            })
            .collect::<Result<_>>()?;
        for c in 0..channels {
            let start = (image * channels + c) * height * width;
            let weighted = |&(at, weight): &(usize, f64)| values[start + at] * weight;
            y.extend(cells.iter().map(|samples| match largest {
                // As in ONNX's reference, the result is the maximum of the weighted elements, not of their
                // sums.
                true => samples.iter().flatten().map(weighted).fold(f64::NEG_INFINITY, f64::max),
                false => samples.iter().flatten().map(weighted).sum::<f64>() / samples.len().max(1) as f64,
            }));
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}

/// Computes `MaxRoiPool`.
/// Each region has a batch index and two corners, rounded to whole elements. Empty cells are 0.
pub(super) fn max_roi_pool(cx: &Cx) -> Result<Array> {
    let (x, rois) = (cx.tensor(0)?, cx.tensor(1)?);
    let (&[batch, channels, height, width], &[count, 5]) = (x.shape(), rois.shape()) else {
        return bad("the image must have rank 4, and the regions must have the shape [count, 5]");
    };
    let pooled = to_sizes(&cx.ints("pooled_shape").unwrap_or_default())?;
    let &[rows, columns] = &pooled[..] else {
        return bad("`pooled_shape` must contain a height and a width");
    };
    let scale = cx.float("spatial_scale", 1.0);
    let shape = vec![count, channels, rows, columns];
    cx.room(&shape)?;
    cx.work(&[count, channels, height, width])?;
    let (values, boxes) = (x.f64s()?, rois.f64s()?);
    let mut y = Vec::new();
    for roi in boxes.chunks(5) {
        let image = index(roi[0] as i64, batch).ok_or(OUT_OF_RANGE)?;
        let edge = |i: usize| (roi[i] * scale).round();
        let span = |low: f64, high: f64, cell: usize, cells: usize, limit: usize| {
            let step = (high - low + 1.0).max(1.0) / cells as f64;
            let bound = |at: f64| (at + low).clamp(0.0, limit as f64) as usize;
            bound((cell as f64 * step).floor())..bound(((cell + 1) as f64 * step).ceil())
        };
        for c in 0..channels {
            let plane = &values[(image * channels + c) * height * width..][..height * width];
            for cell in 0..rows * columns {
                let down = span(edge(2), edge(4), cell / columns, rows, height);
                let across = span(edge(1), edge(3), cell % columns, columns, width);
                let seen = down.flat_map(|i| across.clone().map(move |j| plane[i * width + j]));
                let top = seen.fold(f64::NEG_INFINITY, f64::max);
                y.push(if top == f64::NEG_INFINITY { 0.0 } else { top });
            }
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}
