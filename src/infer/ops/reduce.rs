//! Shape rules of reductions along axes.

use super::Cx;
use crate::infer::shape::{Shape, Size, is, known};

/// Axes of a reduction.
enum Axes {
    All,
    These(Vec<i64>),
    /// Unknown axes, with their number if it is known.
    Count(Option<usize>),
}

/// `Reduce*`: the axes are an input since opset 13 (`ReduceSum`) or 18, and an attribute before.
pub fn reduce(cx: &mut Cx) -> Option<()> {
    let (keep, dims) = (keeps_axes(cx)?, cx.dims(0)?);
    let shape = match axes(cx) {
        Axes::All if cx.flag("noop_with_empty_axes") => Shape::new(dims),
        Axes::All if keep => Shape::new(vec![known(1); dims.len()]),
        Axes::All => Shape::scalar(),
        Axes::These(axes) => reduced(cx, dims, &axes, keep)?,
        // An axis of size 1 keeps its size whether or not it is reduced.
        Axes::Count(_) if keep => {
            Shape::new(dims.iter().map(|dim| dim.clone().filter(|_| is(dim, 1))).collect::<Vec<_>>())
        }
        Axes::Count(Some(count)) if count > 0 => Shape::of_rank(dims.len().checked_sub(count)?),
        Axes::Count(_) => Shape::UNKNOWN,
    };
    cx.set_shape(0, shape);
    Some(())
}

/// Returns whether reduced axes are kept. Runtimes differ for values of `keepdims` other than 0 and 1.
fn keeps_axes(cx: &Cx) -> Option<bool> {
    match cx.int_or("keepdims", 1) {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn axes(cx: &mut Cx) -> Axes {
    cx.expect_rank_at_most(1, 1);
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

/// `ArgMax` and `ArgMin`: reduce one axis.
pub fn arg(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0)?;
    let (axis, keep) = (cx.int_or("axis", 0), keeps_axes(cx)?);
    let shape = reduced(cx, dims, &[axis], keep)?;
    cx.set_shape(0, shape);
    Some(())
}

/// Returns the shape without these axes, or with size 1 for them if `keep`.
pub fn reduced(cx: &mut Cx, dims: &[Size], axes: &[i64], keep: bool) -> Option<Shape> {
    let axes = cx.axes(axes, dims.len())?;
    let left = dims.iter().enumerate().filter_map(|(axis, dim)| match axes.contains(&axis) {
        true if keep => Some(known(1)),
        true => None,
        false => Some(dim.clone()),
    });
    Some(Shape::new(left.collect::<Vec<_>>()))
}

/// `TopK`: keeps `k` elements along one axis; `k` is an attribute, or an input since opset 10.
pub fn top_k(cx: &mut Cx) -> Option<()> {
    cx.allow_rank(1, 1)?;
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

/// Loss over classes: a scalar or, with `reduction = "none"`, a tensor with the shape of the targets.
///
/// The second output of `SoftmaxCrossEntropyLoss` has the shape of the scores.
pub fn loss(cx: &mut Cx) -> Option<()> {
    let scores = cx.shape(0);
    cx.set_shape(1, scores);
    let each = cx.text("reduction") == Some("none");
    let shape = if each { cx.shape(1) } else { Shape::scalar() };
    cx.set_shape(0, shape);
    Some(())
}

/// `Det`: returns the determinants of the matrices in the last two axes.
pub fn det(cx: &mut Cx) -> Option<()> {
    cx.expect_rank_at_least(0, 2)?;
    let dims = cx.dims(0)?;
    cx.set_dims(0, &dims[..dims.len() - 2]);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    #[test]
    fn reductions_drop_or_keep_their_axes() {
        check_call("float[n, 3, 4] x", "ReduceMax(x)", "float[1, 1, 1]");
        check_call("float[n, 3, 4] x", "ReduceMax <keepdims = 0> (x)", "float[]");
        check_call("float[n, 3] x", "ReduceSum <noop_with_empty_axes = 1> (x)", "float[n, 3]");
        check_call(
            "float[n, 3, 4] x, int64[2] axes",
            "ReduceSum <keepdims = 0> (x, axes)",
            "float[y0_dim_0]",
        );
        check_call("float[n, 1, 4] x, int64[k] axes", "ReduceSum(x, axes)", "float[y0_dim_0, 1, y0_dim_2]");
        check_call("float[n, 3, 4] x", "ArgMax <axis = 1, keepdims = 0> (x)", "int64[n, 4]");
        check_call("float[n, 3, 3] x", "Det(x)", "float[n]");
        check(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[n, 3] x) => (y) { y = ReduceMean <axes = [-1]> (x) }",
            &["y: float[n, 1]"],
        );
        check_faults(
            "g (float[n, 3] x) => (y) { y = ArgMax <axis = 2> (x) }",
            &["axis 2 is out of range for rank 2"],
        );
    }

    #[test]
    fn top_k_with_unknown_k_creates_a_symbol() {
        let text = "g (float[n, 9] x, int64[1] k) => (a, b, c, d) {
            five = Constant <value_ints = [5]> ()
            a, b = TopK(x, five)
            c, d = TopK <axis = 0> (x, k)
        }";
        check(text, &["a: float[n, 5]", "b: int64[n, 5]", "c: float[c_dim_0, 9]", "d: int64[c_dim_0, 9]"]);
    }

    #[test]
    fn unreduced_loss_has_the_shape_of_the_targets() {
        let inputs = "float[n, 5, h] x, int64[n, h] t";
        check_call(inputs, "NegativeLogLikelihoodLoss(x, t)", "float[]");
        check_call(
            inputs,
            "SoftmaxCrossEntropyLoss <reduction = \"none\"> (x, t)",
            "float[n, h]; float[n, 5, h]",
        );
    }
}
