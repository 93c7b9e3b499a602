//! Operators that only move elements: another shape, another order.

use super::Cx;
use super::elementwise::broadcast_shapes;
use crate::graph::dim::Dim;
use crate::infer::fact::Fact;
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size, add, is, known, mul, number, product};

/// The integers of an attribute, or else the elements of an input; what is not known of them is `None`.
fn list(cx: &Cx, attr: &str, input: usize) -> Option<Vec<Size>> {
    match cx.ints_attr(attr) {
        Some(ints) => Some(ints.iter().map(|&int| known(int)).collect()),
        None => cx.ints(input).or_else(|| Some(vec![None; cx.length(input)?])),
    }
}

/// Axes of an attribute or an input, if all are known.
fn axes(cx: &Cx, input: usize) -> Option<Vec<i64>> {
    list(cx, "axes", input)?.iter().map(number).collect()
}

/// `Flatten`: to a matrix, split before `axis`.
pub fn flatten(cx: &mut Cx) -> Option<()> {
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(2));
        return Some(());
    };
    let axis = cx.int_or("axis", 1);
    // An axis equal to the rank is allowed here: then all elements are in one column.
    let at = if axis == dims.len() as i64 { dims.len() } else { cx.axis(axis, dims.len())? };
    let (before, after) = dims.split_at(at);
    cx.set_dims(0, vec![product(before), product(after)]);
    Some(())
}

/// `Squeeze`: without the named axes, or without all those of size 1.
pub fn squeeze(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    if cx.attr("axes").is_none() && !cx.has(1) {
        let one = Dim::known(1);
        let is_one = |dim: &Size| dim.as_ref().map(|dim| dim.equals(&one, cx.bounds()));
        let decided = dims.iter().all(|dim| is_one(dim).is_some_and(|a| a.is_always() || a.is_never()));
        let left = dims.iter().filter(|dim| is_one(dim).is_some_and(|answer| answer.is_never()));
        let left: Vec<Size> = left.cloned().collect();
        cx.set_shape(0, if decided { Shape::new(left) } else { Shape::UNKNOWN });
        return Some(());
    }
    let Some(axes) = axes(cx, 1) else {
        let count = cx.length(1)?;
        cx.set_shape(0, Shape::of_rank(dims.len().checked_sub(count)?));
        return Some(());
    };
    let axes = cx.axes(&axes, dims.len())?;
    if axes.iter().any(|&axis| number(&dims[axis]).is_some_and(|dim| dim != 1)) {
        cx.fault(Fault::Value { name: "axes", why: "names an axis whose size is not 1" });
    }
    let left = dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    cx.set_dims(0, left.map(|(_, dim)| dim.clone()).collect::<Vec<_>>());
    Some(())
}

/// `Unsqueeze`: with axes of size 1 put in, counted in the result.
pub fn unsqueeze(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    let Some(axes) = axes(cx, 1) else {
        let count = cx.length(1)?;
        cx.set_shape(0, Shape::of_rank(dims.len() + count));
        return Some(());
    };
    let rank = dims.len() + axes.len();
    let axes = cx.axes(&axes, rank)?;
    let mut left = dims.iter();
    let mut dim_at = |axis| if axes.contains(&axis) { known(1) } else { left.next().cloned().flatten() };
    let dims: Vec<Size> = (0..rank).map(&mut dim_at).collect();
    cx.set_dims(0, dims);
    Some(())
}

/// `Transpose`: reversed, or as `perm` says.
pub fn transpose(cx: &mut Cx) -> Option<()> {
    let perm = cx.ints_attr("perm");
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(perm?.len()));
        return Some(());
    };
    let perm = match perm {
        Some(perm) if perm.len() != dims.len() => {
            cx.fault(Fault::Value { name: "perm", why: "does not have as many axes as the input" });
            return None;
        }
        Some(perm) => cx.axes(perm, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    cx.set_dims(0, perm.iter().map(|&axis| dims[axis].clone()).collect::<Vec<_>>());
    Some(())
}

/// `Concat`: sizes add up along the axis, and agree elsewhere.
pub fn concat(cx: &mut Cx) -> Option<()> {
    let inputs: Vec<usize> = (0..cx.inputs()).filter(|&input| cx.has(input)).collect();
    concat_inputs(cx, &inputs, 1)
}

/// `com.microsoft.QLinearConcat`: scale and zero point of the output, then the same for each tensor.
pub fn qlinear_concat(cx: &mut Cx) -> Option<()> {
    let inputs: Vec<usize> = (2..cx.inputs()).step_by(3).collect();
    concat_inputs(cx, &inputs, 1)
}

fn concat_inputs(cx: &mut Cx, inputs: &[usize], default_axis: i64) -> Option<()> {
    let &with_rank = inputs.iter().find(|&&input| cx.rank(input).is_some())?;
    let rank = cx.rank(with_rank)?;
    let axis = cx.axis_attr(default_axis, rank)?;
    let mut dims = cx.dims(with_rank)?.to_vec();
    dims[axis] = known(0);
    for &input in inputs {
        if cx.rank(input).is_none() {
            dims[axis] = None;
            continue;
        }
        cx.expect_rank(input, rank)?;
        for (other, dim) in dims.iter_mut().enumerate().filter(|(other, _)| *other != axis) {
            let agreed = cx.same_size((with_rank, other), (input, other));
            if number(dim).is_none() {
                *dim = agreed;
            }
        }
        dims[axis] = add(&dims[axis], &cx.dim(input, axis));
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `Split`: by the given sizes, or in equal parts (from opset 18 on, the last may be smaller).
pub fn split(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    let axis = cx.axis_attr(0, dims.len())?;
    let parts = cx.outs.len();
    let given = if cx.attr("split").is_some() || cx.has(1) { list(cx, "split", 1) } else { None };
    let sizes = match given {
        Some(sizes) => sizes,
        None if cx.has(1) => vec![None; parts],
        None => equal_parts(&dims[axis], cx.int_or("num_outputs", parts as i64)),
    };
    if sizes.len() < parts {
        cx.fault(Fault::Value { name: "split", why: "does not give as many sizes as there are outputs" });
    }
    for output in 0..parts {
        let mut dims = dims.to_vec();
        dims[axis] = sizes.get(output).cloned().flatten();
        cx.set_dims(output, dims);
    }
    Some(())
}

fn equal_parts(size: &Size, parts: i64) -> Vec<Size> {
    let each = || size.as_ref()?.ceil_div(parts);
    let last = || crate::infer::shape::sub(size, &mul(&each(), &known(parts - 1)));
    let part = |index: i64| if index == parts - 1 { last() } else { each() };
    (0..parts).map(part).collect()
}

/// `Expand`: broadcast with the shape that the second input holds.
pub fn expand(cx: &mut Cx) -> Option<()> {
    let shape = list(cx, "", 1)?;
    let Some(dims) = broadcast_shapes(cx.dims(0)?, &shape, cx) else {
        let shapes = (cx.shape(0), Shape::new(shape));
        cx.fault(Fault::NotBroadcastable { inputs: (0, 1), shapes });
        return None;
    };
    cx.set_dims(0, dims);
    Some(())
}

/// `Tile`: opset 1 repeats along one axis, later ones along each.
pub fn tile(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    if cx.since() < 6 {
        let axis = cx.const_int(2)?;
        let axis = cx.axis(axis, dims.len())?;
        dims[axis] = mul(&dims[axis], &cx.int_scalar(1));
    } else {
        let repeats = cx.ints(1).unwrap_or_else(|| vec![None; dims.len()]);
        if repeats.len() != dims.len() {
            cx.fault(Fault::Value { name: "repeats", why: "does not give one number for each axis" });
            return None;
        }
        dims = dims.iter().zip(&repeats).map(|(dim, times)| mul(dim, times)).collect();
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `Pad`: all begins, then all ends, of all axes or (opset 18) of those that the last input names.
pub fn pad(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let attr = if cx.since() < 2 { "paddings" } else { "pads" };
    let axes = if cx.has(3) { cx.const_ints(3) } else { Some((0..dims.len() as i64).collect()) };
    let pads = list(cx, attr, 1);
    let (Some(axes), Some(pads)) = (axes, pads) else {
        cx.set_shape(0, Shape::of_rank(dims.len()));
        return Some(());
    };
    let axes = cx.axes(&axes, dims.len())?;
    if pads.len() != 2 * axes.len() {
        cx.fault(Fault::Value { name: "pads", why: "does not give two numbers for each axis" });
        return None;
    }
    for (index, &axis) in axes.iter().enumerate() {
        let both = add(&pads[index], &pads[index + axes.len()]);
        dims[axis] = add(&dims[axis], &both);
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `DepthToSpace`: blocks of channels become squares.
pub fn depth_to_space(cx: &mut Cx) -> Option<()> {
    let block = cx.int("blocksize")?;
    cx.expect_rank(0, 4)?;
    let channels = (|| cx.dim(0, 1)?.floor_div(block.checked_mul(block)?))();
    let (height, width) = (mul(&cx.dim(0, 2), &known(block)), mul(&cx.dim(0, 3), &known(block)));
    cx.set_dims(0, vec![cx.dim(0, 0), channels, height, width]);
    Some(())
}

/// `SpaceToDepth`: squares become blocks of channels.
pub fn space_to_depth(cx: &mut Cx) -> Option<()> {
    let block = cx.int("blocksize")?;
    cx.expect_rank(0, 4)?;
    let channels = mul(&cx.dim(0, 1), &block.checked_mul(block).map(Dim::known));
    let side = |axis| cx.dim(0, axis)?.floor_div(block);
    let (height, width) = (side(2), side(3));
    cx.set_dims(0, vec![cx.dim(0, 0), channels, height, width]);
    Some(())
}

/// `CenterCropPad`: the named axes get the sizes that the second input holds.
pub fn center_crop_pad(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axes = match cx.ints_attr("axes") {
        Some(axes) => cx.axes(axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let sizes = cx.ints(1).unwrap_or_else(|| vec![None; axes.len()]);
    for (&axis, size) in axes.iter().zip(sizes) {
        dims[axis] = size;
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `Reshape`: 0 copies the dim of the input (unless `allowzero`), -1 takes what is left.
pub fn reshape(cx: &mut Cx) -> Option<()> {
    let target = list(cx, "shape", 1)?;
    let input = cx.dims(0);
    let zero_copies = !cx.flag("allowzero");
    let mut dims: Vec<Size> = Vec::with_capacity(target.len());
    for (axis, size) in target.iter().enumerate() {
        dims.push(match size {
            size if is(size, -1) => None,
            size if is(size, 0) && zero_copies => input.and_then(|dims| dims.get(axis).cloned().flatten()),
            Some(dim) if may_be_sentinel(dim, cx) => None,
            size => size.clone(),
        });
    }
    solve_one(cx, &mut dims);
    check_elements(cx, &dims);
    cx.set_dims(0, dims);
    Some(())
}

/// Whether an element of a shape could be -1 at run time as likely as anything else: a number that the
/// caller passes in. An expression over sizes is taken for a size.
fn may_be_sentinel(dim: &Dim, cx: &Cx) -> bool {
    dim.as_symbol().is_some_and(|symbol| cx.bounds().of(symbol).lo.is_none_or(|lo| lo < 0))
}

/// The number of elements stays, which gives one dim if all others are known.
fn solve_one(cx: &Cx, dims: &mut [Size]) {
    let mut open = dims.iter().enumerate().filter(|(_, dim)| dim.is_none());
    let (Some((axis, _)), None) = (open.next(), open.next()) else { return };
    let others: Vec<Size> =
        dims.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, dim)| dim.clone()).collect();
    dims[axis] = quotient(cx.dims(0), &others);
}

/// The number of elements of `dims` over that of `others`; what both have in common is not multiplied,
/// so it need not be known.
fn quotient(dims: Option<&[Size]>, others: &[Size]) -> Size {
    let (all, part) = (product(dims?)?, product(others)?);
    if part.as_const() == Some(0) {
        return None;
    }
    all.div_exact(&part).or_else(|| all.floor_div(&part))
}

fn check_elements(cx: &mut Cx, dims: &[Size]) {
    let to = Shape::new(dims);
    let (Some(before), Some(after)) = (cx.shape(0).numel(), to.numel()) else { return };
    if before.equals(&after, cx.bounds()).is_never() {
        let from = cx.shape(0);
        cx.fault(Fault::Elements { input: 0, from, to });
    }
}

/// `Identity`: the fact of the input, values and all.
pub fn identity(cx: &mut Cx) -> Option<()> {
    let fact = cx.fact(0)?.clone();
    let known_elem = fact.elem().or_else(|| cx.outs.first()?.elem());
    cx.put(0, fact);
    if let Some(Fact::Tensor(tensor)) = cx.outs.first_mut() {
        tensor.elem = known_elem;
    }
    Some(())
}
