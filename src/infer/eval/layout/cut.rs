//! Concatenation, splitting and slicing along axes.

use super::by_axis::{Places, by_axis, whole};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{Split, axes, axis, numel, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Concat`; the shapes must be equal except along the axis.
pub(super) fn concat(cx: &Cx) -> Result<Array> {
    let parts = cx.tensors()?;
    // The attribute is required since opset 4 and was 1 by default before.
    join(cx, &parts, cx.int("axis", 1))
}

/// Concatenates tensors whose shapes are equal except along the axis.
pub fn join(cx: &Cx, parts: &[&Array], along: i64) -> Result<Array> {
    let Some(first) = parts.first() else { return bad("at least one input is required") };
    let along = axis(along, first.rank())?;
    let mut shape = first.shape().to_vec();
    shape[along] = 0;
    for part in parts {
        let agree =
            part.rank() == shape.len() && (0..shape.len()).all(|i| i == along || part.shape()[i] == shape[i]);
        if !agree {
            return bad("the shapes differ outside the concatenation axis");
        }
        shape[along] = shape[along].saturating_add(part.shape()[along]);
    }
    cx.room(&shape)?;
    let pool = Array::gathered(first.elem(), parts)?;
    let mut offsets = Vec::with_capacity(pool.len());
    let outer = numel(&shape[..along])?;
    for o in 0..outer {
        let mut start = 0;
        for part in parts {
            let chunk = part.len() / outer;
            offsets.extend(start + o * chunk..start + (o + 1) * chunk);
            start += part.len();
        }
    }
    pool.take(shape, &offsets)
}

/// Computes `Split` by sizes from an input or attribute, or else evenly into one part per output.
pub(super) fn split(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    let along = axis(cx.int("axis", 0), x.rank())?;
    let sizes = match cx.ints_at(1, "split")? {
        Some(sizes) => to_sizes(&sizes)?,
        None => {
            let parts = cx.call.outputs;
            // The specification does not define the parts if `num_outputs` differs from the number of outputs.
            if cx.int("num_outputs", parts as i64) != parts as i64 {
                return Err(Refusal::Unsupported);
            }
            even_sizes(cx, x.shape()[along], parts)?
        }
    };
    pieces(cx, x, along, &sizes)
}

/// Returns even sizes; since opset 18 the last part may be smaller.
fn even_sizes(cx: &Cx, dim: usize, parts: usize) -> Result<Vec<usize>> {
    if parts == 0 {
        return bad("a Split must have an output");
    }
    let size = dim.div_ceil(parts);
    let Some(last) = dim.checked_sub((parts - 1) * size).filter(|&last| last == size || cx.version() >= 18)
    else {
        return bad("the axis cannot be split evenly");
    };
    let mut sizes = vec![size; parts];
    sizes[parts - 1] = last;
    Ok(sizes)
}

/// Splits a tensor along an axis into parts of these sizes, which must add up to the size of the axis.
pub fn pieces(cx: &Cx, x: &Array, along: usize, sizes: &[usize]) -> Result<Vec<Array>> {
    cx.room(x.shape())?;
    if sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) != Some(x.shape()[along]) {
        return bad("the sizes of the parts do not sum to the size of the axis");
    }
    let Split { outer, along: dim, inner } = Split::at(x.shape(), along)?;
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let offsets: Vec<usize> =
            (0..outer).flat_map(|o| (o * dim + start) * inner..(o * dim + start + size) * inner).collect();
        let mut shape = x.shape().to_vec();
        shape[along] = size;
        parts.push(x.take(shape, &offsets)?);
        start += size;
    }
    Ok(parts)
}

/// An `end` of at least this, such as `INT32_MAX` or `INT64_MAX`, may mean "to the end of the axis".
const FAR: i64 = i32::MAX as i64;

/// Computes `Slice`, clamping bounds to the dimension. Bounds are attributes before opset 10.
pub(super) fn slice(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let required = Refusal::BadInput("the starts and ends are required");
    let starts = cx.ints_at(1, "starts")?.ok_or(required.clone())?;
    let ends = cx.ints_at(2, "ends")?.ok_or(required)?;
    let named = match cx.ints_at(3, "axes")? {
        Some(values) => axes(&values, x.rank())?,
        None => axes(&(0..starts.len() as i64).collect::<Vec<_>>(), x.rank())?,
    };
    let steps = cx.ints_at(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), named.len(), steps.len()] != [starts.len(); 3] {
        return bad("the starts, ends, axes and steps differ in length");
    }
    let mut places: Vec<Places> = x.shape().iter().map(|&dim| whole(dim)).collect();
    for (i, &at) in named.iter().enumerate() {
        places[at] = range(x.shape()[at], starts[i], ends[i], steps[i])?;
    }
    by_axis(cx, x, &places, None)
}

fn range(dim: usize, start: i64, end: i64, step: i64) -> Result<Places> {
    let n = dim as i64;
    let from_end = |at: i64| if at < 0 { at.saturating_add(n) } else { at };
    let (start, end) = (from_end(start), from_end(end));
    match step {
        0 => bad("a step must not be 0"),
        // With a negative step and an end beyond the axis, the result is empty by the specification, but ONNX
        // Runtime slices back to the first element.
        ..0 if end >= FAR => Err(Refusal::Unsupported),
        ..0 if n == 0 => Ok(Places::default()),
        1.. => Ok((start.clamp(0, n)..end.clamp(0, n))
            .step_by(step as usize)
            .map(|i| Some(i as usize))
            .collect()),
        _ => Ok((end.clamp(-1, n - 1) + 1..start.clamp(0, n - 1) + 1)
            .rev()
            .step_by(step.unsigned_abs() as usize)
            .map(|i| Some(i as usize))
            .collect()),
    }
}
