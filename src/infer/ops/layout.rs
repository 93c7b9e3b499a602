//! Shape rules of operators that only move elements.

use super::Cx;
use super::elementwise::broadcast_shapes;
use crate::graph::dim::Dim;
use crate::infer::fact::Fact;
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size, add, known, mul, number};

/// Returns the integers of an attribute, or else the elements of an input. Unknown elements are `None`.
pub fn list(cx: &mut Cx, attr: &str, input: usize) -> Option<Vec<Size>> {
    if let Some(ints) = cx.ints_attr(attr) {
        return Some(ints.iter().map(|&int| known(int)).collect());
    }
    cx.expect_rank_at_most(input, 1);
    cx.ints(input).or_else(|| Some(vec![None; cx.length(input)?]))
}

/// `Transpose`: permutes the axes by `perm`, or reverses them.
pub fn transpose(cx: &mut Cx) -> Option<()> {
    let perm = cx.ints_attr("perm");
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(perm?.len()));
        return Some(());
    };
    let perm = match perm {
        Some(perm) if perm.len() != dims.len() => {
            cx.fault(Fault::Value { name: "perm", why: "must have one entry per input axis" });
            return None;
        }
        Some(perm) => cx.axes(perm, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    if (0..perm.len()).any(|axis| !perm.contains(&axis)) {
        cx.fault(Fault::Value { name: "perm", why: "must not repeat an axis" });
        return None;
    }
    cx.set_dims(0, perm.iter().map(|&axis| dims[axis].clone()).collect::<Vec<_>>());
    Some(())
}

/// `Concat`: sums the sizes along the axis; all other dimensions must be equal.
pub fn concat(cx: &mut Cx) -> Option<()> {
    let inputs: Vec<usize> = (0..cx.inputs()).filter(|&input| cx.has(input)).collect();
    concat_inputs(cx, &inputs, 1)
}

/// `com.microsoft.QLinearConcat`: concatenates tensors, each followed by its scale and zero point.
///
/// The scale and zero point of the output come first.
pub fn qlinear_concat(cx: &mut Cx) -> Option<()> {
    let inputs: Vec<usize> = (2..cx.inputs()).step_by(3).collect();
    let elem = cx.elem(1);
    cx.set_elem(0, elem);
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

/// `Split`: splits by the given sizes, or else into equal parts.
///
/// Since opset 18, the last part may be smaller than the others if no sizes are given.
pub fn split(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    let axis = cx.axis_attr(0, dims.len())?;
    let parts = cx.outs.len();
    let given = if cx.attr("split").is_some() || cx.has(1) { list(cx, "split", 1) } else { None };
    let sizes = match given {
        Some(sizes) if !sizes.is_empty() => sizes,
        // ONNX Runtime treats an empty `split` as absent; the specification does not define it.
        _ if cx.has(1) => vec![None; parts],
        // If `num_outputs` and the number of outputs differ, the specification does not define the sizes.
        _ if cx.int_or("num_outputs", parts as i64) != parts as i64 => vec![None; parts],
        _ => equal_parts(&dims[axis], parts as i64),
    };
    if sizes.len() < parts {
        cx.fault(Fault::Value { name: "split", why: "must have one size per output" });
    }
    let numbers = |sizes: &[Size]| sizes.iter().map(number).sum::<Option<i64>>();
    if let (Some(sum), Some(size)) = (numbers(&sizes), number(&dims[axis]))
        && sum != size
    {
        cx.fault(Fault::Value { name: "split", why: "must sum to the size of the axis" });
    }
    for output in 0..parts {
        let mut dims = dims.to_vec();
        dims[axis] = sizes.get(output).cloned().flatten();
        cx.set_dims(output, dims);
    }
    Some(())
}

/// Returns the sizes of this number of parts: equal sizes, except that the last may be smaller.
fn equal_parts(size: &Size, parts: i64) -> Vec<Size> {
    let each = || size.as_ref()?.ceil_div(parts);
    let last = || crate::infer::shape::sub(size, &mul(&each(), &known(parts - 1)));
    let part = |index: i64| if index == parts - 1 { last() } else { each() };
    (0..parts).map(part).collect()
}

/// `Expand`: broadcasts the input with the shape in the second input.
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

/// `Tile`: repeats along each axis; before opset 6, along a single axis.
pub fn tile(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    if cx.since() < 6 {
        let axis = cx.const_int(2)?;
        let axis = cx.axis(axis, dims.len())?;
        dims[axis] = mul(&dims[axis], &cx.int_scalar(1));
    } else {
        let repeats = cx.ints(1).unwrap_or_else(|| vec![None; dims.len()]);
        if repeats.len() != dims.len() {
            cx.fault(Fault::Value { name: "repeats", why: "must have one entry per axis" });
            return None;
        }
        dims = dims.iter().zip(&repeats).map(|(dim, times)| mul(dim, times)).collect();
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `Pad`: the pads list the begin pads of all axes, then the end pads.
///
/// The pads apply to all axes or, since opset 18, to the axes in the last input, if it is present.
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
        cx.fault(Fault::Value { name: "pads", why: "must have two entries per axis" });
        return None;
    }
    for (index, &axis) in axes.iter().enumerate() {
        let both = add(&pads[index], &pads[index + axes.len()]);
        dims[axis] = add(&dims[axis], &both);
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `DepthToSpace`: moves blocks of channels to the spatial axes.
pub fn depth_to_space(cx: &mut Cx) -> Option<()> {
    let block = cx.int("blocksize")?;
    cx.expect_rank(0, 4)?;
    let channels = (|| cx.dim(0, 1)?.floor_div(block.checked_mul(block)?))();
    let (height, width) = (mul(&cx.dim(0, 2), &known(block)), mul(&cx.dim(0, 3), &known(block)));
    cx.set_dims(0, vec![cx.dim(0, 0), channels, height, width]);
    Some(())
}

/// `SpaceToDepth`: moves spatial blocks to the channel axis.
pub fn space_to_depth(cx: &mut Cx) -> Option<()> {
    let block = cx.int("blocksize")?;
    cx.expect_rank(0, 4)?;
    let channels = mul(&cx.dim(0, 1), &block.checked_mul(block).map(Dim::known));
    let side = |axis| cx.dim(0, axis)?.floor_div(block);
    let (height, width) = (side(2), side(3));
    cx.set_dims(0, vec![cx.dim(0, 0), channels, height, width]);
    Some(())
}

/// `CenterCropPad`: sets the sizes of the given axes to the second input.
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

/// `Identity`: the output has the fact of the input, including its elements.
pub fn identity(cx: &mut Cx) -> Option<()> {
    let fact = cx.fact(0)?.clone();
    let known_elem = fact.elem().or_else(|| cx.outs.first()?.elem());
    cx.put(0, fact);
    if let Some(Fact::Tensor(tensor)) = cx.outs.first_mut() {
        tensor.elem = known_elem;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    #[test]
    fn transpose_concat_and_split_compute_their_dimensions() {
        check_call("float[n, 3, m] x", "Transpose(x)", "float[m, 3, n]");
        check_call("float[n, 3, m] x", "Transpose <perm = [1, 0, 2]> (x)", "float[3, n, m]");
        check_call("float[n, 3] x, float[m, 3] y", "Concat <axis = 0> (x, y)", "float[m + n, 3]");
        check_call("float[n, k] x, float[m, 3] y", "Concat <axis = -2> (x, y)", "float[m + n, 3]");
        check_call(
            "float[n, 7] x",
            "Split <axis = 1, num_outputs = 3> (x)",
            "float[n, 3]; float[n, 3]; float[n, 1]",
        );
        check_call(
            "float[n, 7] x",
            "Split <axis = 1, num_outputs = 3> (x)",
            "float[n, y0_dim_1]; float[n, y1_dim_1]",
        );
        check_call("float[n, 4, h, w] x", "DepthToSpace <blocksize = 2> (x)", "float[n, 1, 2*h, 2*w]");
        check_call("float[n, 1, 4, w] x", "SpaceToDepth <blocksize = 2> (x)", "float[n, 4, 2, floor(w / 2)]");
        check_faults(
            "g (float[n, 2] x, float[m, 3] y) => (z) { z = Concat <axis = 0> (x, y) }",
            &["axis 1 of input 0 is 2, but axis 1 of input 1 is 3"],
        );
    }

    #[test]
    fn expand_tile_and_pad_compute_their_dimensions() {
        let text = "g (float[n, 1] x, float[m] like) => (a, b, c, d) {
            shape = Shape(like)
            a = Expand(x, shape)
            twice = Constant <value_ints = [2, 3]> ()
            b = Tile(x, twice)
            pads = Constant <value_ints = [1, 0, 2, 5]> ()
            c = Pad(x, pads)
            axis = Constant <value_ints = [-1]> ()
            ends = Constant <value_ints = [4, 4]> ()
            none = Constant <value_float = 0.0> ()
            d = Pad(x, ends, none, axis)
        }";
        check(text, &["a: float[n, m]", "b: float[2*n, 3]", "c: float[n + 3, 6]", "d: float[n, 9]"]);
        check_call("float[n, 3] x, int64[2] r", "Tile(x, r)", "float[y0_dim_0, y0_dim_1]");
    }

    #[test]
    fn center_crop_pad_sets_the_given_axes() {
        let text = "g (float[n, 9, 9] x) => (y) {
            size = Constant <value_ints = [4]> ()
            y = CenterCropPad <axes = [1]> (x, size)
        }";
        check(text, &["y: float[n, 4, 9]"]);
    }
}
