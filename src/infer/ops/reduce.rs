//! Reductions along axes.

use super::Cx;
use crate::infer::shape::{Shape, Size, is, known};

/// The axes that a reduction names.
enum Axes {
    All,
    These(Vec<i64>),
    /// Not known, but how many.
    Count(Option<usize>),
}

/// `Reduce*`: the axes are an attribute, or from opset 13 or 18 on an input.
pub fn reduce(cx: &mut Cx) -> Option<()> {
    let keep = cx.int_or("keepdims", 1) != 0;
    let dims = cx.dims(0)?;
    let shape = match axes(cx) {
        Axes::All if cx.flag("noop_with_empty_axes") => Shape::new(dims),
        Axes::All if keep => Shape::new(vec![known(1); dims.len()]),
        Axes::All => Shape::scalar(),
        Axes::These(axes) => reduced(cx, dims, &axes, keep)?,
        // Reduced or not, an axis of size 1 is one of size 1.
        Axes::Count(_) if keep => {
            Shape::new(dims.iter().map(|dim| dim.clone().filter(|_| is(dim, 1))).collect::<Vec<_>>())
        }
        Axes::Count(Some(count)) if count > 0 => Shape::of_rank(dims.len().checked_sub(count)?),
        Axes::Count(_) => Shape::UNKNOWN,
    };
    cx.set_shape(0, shape);
    Some(())
}

fn axes(cx: &Cx) -> Axes {
    let given = match cx.ints_attr("axes") {
        Some(axes) => Some(axes.to_vec()),
        None if cx.has(1) => cx.const_ints(1),
        None => return Axes::All,
    };
    match given {
        Some(axes) if axes.is_empty() => Axes::All,
        Some(axes) => Axes::These(axes),
        None => Axes::Count(cx.length(1)),
    }
}

/// `ArgMax` and `ArgMin`.
pub fn arg(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    let (axis, keep) = (cx.int_or("axis", 0), cx.int_or("keepdims", 1) != 0);
    let shape = reduced(cx, dims, &[axis], keep)?;
    cx.set_shape(0, shape);
    Some(())
}

fn reduced(cx: &mut Cx, dims: &[Size], axes: &[i64], keep: bool) -> Option<Shape> {
    let axes = cx.axes(axes, dims.len())?;
    let left = dims.iter().enumerate().filter_map(|(axis, dim)| match axes.contains(&axis) {
        true if keep => Some(known(1)),
        true => None,
        false => Some(dim.clone()),
    });
    Some(Shape::new(left.collect::<Vec<_>>()))
}

/// `TopK`: `k` along one axis, from an attribute or (opset 10) an input.
pub fn top_k(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(-1, dims.len())?;
    let k = match cx.int("k") {
        Some(k) => known(k),
        None => cx.int_scalar(1),
    };
    let range = cx.up_to(&dims[axis]);
    dims[axis] = k.or_else(|| cx.new_size(0, axis, range));
    cx.set_dims(0, dims.clone());
    cx.set_dims(1, dims);
    Some(())
}

/// A loss over classes: one number, or with `reduction = "none"` one for each target. The second output
/// of `SoftmaxCrossEntropyLoss` is shaped as the scores.
pub fn loss(cx: &mut Cx) -> Option<()> {
    let scores = cx.shape(0);
    cx.set_shape(1, scores);
    let each = cx.text("reduction") == Some("none");
    let shape = if each { cx.shape(1) } else { Shape::scalar() };
    cx.set_shape(0, shape);
    Some(())
}

/// The determinants of the matrices in the last two axes.
pub fn det(cx: &mut Cx) -> Option<()> {
    cx.expect_rank_at_least(0, 2)?;
    let dims = cx.dims(0)?;
    cx.set_dims(0, &dims[..dims.len() - 2]);
    Some(())
}
