//! Shape rules of operators that change the axes and keep the order of the elements.

use super::Cx;
use super::layout::list;
use crate::graph::dim::Dim;
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size, is, known, number, product};

/// Returns the axes of an attribute or an input, if all are known.
fn axes(cx: &mut Cx, input: usize) -> Option<Vec<i64>> {
    list(cx, "axes", input)?.iter().map(number).collect()
}

/// `Flatten`: reshapes to a matrix, split before `axis`.
pub fn flatten(cx: &mut Cx) -> Option<()> {
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(2));
        return Some(());
    };
    let axis = cx.int_or("axis", 1);
    // An axis equal to the rank is valid here: all elements form one column.
    let at = if axis == dims.len() as i64 { dims.len() } else { cx.axis(axis, dims.len())? };
    let (before, after) = dims.split_at(at);
    cx.set_dims(0, vec![product(before), product(after)]);
    Some(())
}

/// `Squeeze`: removes the given axes, or all axes of size 1.
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
        let count = cx.length(1).filter(|&count| count > 0)?;
        cx.set_shape(0, Shape::of_rank(dims.len().checked_sub(count)?));
        return Some(());
    };
    // For an empty list, the specification does not define whether no axis or every axis of size 1 is removed.
    if axes.is_empty() {
        return None;
    }
    let axes = cx.axes(&axes, dims.len())?;
    if axes.iter().any(|&axis| number(&dims[axis]).is_some_and(|dim| dim != 1)) {
        cx.fault(Fault::Value { name: "axes", why: "must only contain axes of size 1" });
    }
    let left = dims.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    cx.set_dims(0, left.map(|(_, dim)| dim.clone()).collect::<Vec<_>>());
    Some(())
}

/// `Unsqueeze`: inserts axes of size 1, given by their position in the result.
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

/// `Reshape`: 0 copies the dimension of the input (unless `allowzero`), and -1 is inferred.
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
    let target = dims.clone();
    solve_one(cx, &mut dims);
    check_elements(cx, &target, &dims);
    cx.set_dims(0, dims);
    Some(())
}

/// Returns true if an element of a target shape may be -1 at run time.
///
/// An element may be -1 if it is an expression that is never positive, or a symbol that can be negative
/// because a caller passes in its value. Any other element is assumed to be a nonnegative size.
fn may_be_sentinel(dim: &Dim, cx: &Cx) -> bool {
    let is_passed_in =
        dim.as_symbol().is_some_and(|symbol| cx.bounds().of(symbol).lo.is_none_or(|lo| lo < 0));
    is_passed_in || dim.as_const().is_none() && dim.range(cx.bounds()).hi.is_some_and(|hi| hi <= 0)
}

/// Infers the only unknown dimension, if any, from the number of elements.
fn solve_one(cx: &Cx, dims: &mut [Size]) {
    let mut open = dims.iter().enumerate().filter(|(_, dim)| dim.is_none());
    let (Some((axis, _)), None) = (open.next(), open.next()) else { return };
    let others: Vec<Size> =
        dims.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, dim)| dim.clone()).collect();
    dims[axis] = quotient(cx.dims(0), &others);
}

/// Returns the number of elements of `dims` divided by that of `others`.
fn quotient(dims: Option<&[Size]>, others: &[Size]) -> Size {
    let (all, part) = (product(dims?)?, product(others)?);
    if part.as_const() == Some(0) {
        return None;
    }
    // In every successful run, `all` is a multiple of `part`, so rounding down is exact. If both are constant
    // and the division has a remainder, every run fails, so no size is correct.
    let is_known = all.as_const().is_some() && part.as_const().is_some();
    all.div_exact(&part).or_else(|| (!is_known).then(|| all.floor_div(&part)).flatten())
}

/// Records a fault if a reshape to `dims` provably changes the number of elements.
///
/// If some of `dims` are unknown, a number of elements that is no multiple of the static dimensions' product
/// is a fault.
///
/// `target` are the sizes with -1 as `None`, and `dims` the sizes with the inferred size.
fn check_elements(cx: &mut Cx, target: &[Size], dims: &[Size]) {
    let (from, to) = (cx.shape(0), Shape::new(dims));
    let Some(before) = from.numel() else { return };
    let fails = match to.numel() {
        Some(after) => before.equals(&after, cx.bounds()).is_never(),
        None => before.as_const().zip(to.static_part()).is_some_and(|(before, part)| before % part != 0),
    };
    if fails_unless_empty(cx, target) {
        cx.fault(Fault::Elements { input: 0, from, to: Shape::new(target) });
    } else if fails {
        cx.fault(Fault::Elements { input: 0, from, to });
    }
}

/// Returns true if a reshape to `target` fails at every size except 0, because the static sizes differ.
///
/// Sizes of input axes that are in both shapes, such as a copied batch, do not change the ratio of the element
/// counts. Other dynamic sizes may be 0 in every run. A target size of `None` is inferred.
fn fails_unless_empty(cx: &Cx, target: &[Size]) -> bool {
    let Some(from) = cx.dims(0) else { return false };
    let mut dynamic: Vec<&Dim> = Vec::new();
    let mut before = 1_i64;
    for size in from {
        match (size, number(size)) {
            (_, Some(number)) => before = before.saturating_mul(number),
            (Some(dim), None) if cx.is_input_axis(dim) => dynamic.push(dim),
            (_, None) => return false,
        }
    }
    let mut after = 1_i64;
    let mut inferred = 0;
    for size in target {
        match (size, number(size)) {
            (_, Some(number)) => after = after.saturating_mul(number),
            (Some(dim), None) => match dynamic.iter().position(|other| *other == dim) {
                Some(at) => drop(dynamic.swap_remove(at)),
                None => return false,
            },
            (None, None) => inferred += 1,
        }
    }
    if !dynamic.is_empty() || before <= 0 || after <= 0 || before == i64::MAX || after == i64::MAX {
        return false;
    }
    match inferred {
        0 => before != after,
        1 => before % after != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    fn at(opset: i64, graph: &str) -> String {
        format!("<ir_version: 6, opset_import: [\"\" : {opset}]> {graph}")
    }

    #[test]
    fn reshape_copies_and_infers_dimensions() {
        let text = |shape: &str| {
            format!(
                "g (float[n, 6, 4] x) => (y) {{ shape = Constant <value_ints = [{shape}]> () y = Reshape(x, shape) }}"
            )
        };
        check(&text("0, -1"), &["y: float[n, 24]"]);
        check(&text("-1, 8"), &["y: float[3*n, 8]"]);
        check(&text("0, 2, 3, -1"), &["y: float[n, 2, 3, 4]"]);
        check(&text("-1, 7"), &["y: float[3*n + floor(3*n / 7), 7]"]);
        check_faults(
            "g (float[2, 6] x) => (y) { shape = Constant <value_ints = [5, 3]> () y = Reshape(x, shape) }",
            &["input 0 of shape [2, 6] cannot be reshaped to [5, 3]: element counts differ"],
        );
        check_faults(
            "g (float[2, 6] x) => (y) { shape = Constant <value_ints = [5, -1]> () y = Reshape(x, shape) }",
            &["input 0 of shape [2, 6] cannot be reshaped to [5, ?]: element counts differ"],
        );
        // A dynamic batch that the target shape copies does not change the ratio of the element counts.
        let heads = |shape: &str| {
            format!(
                "g (float[n, s, 8] x) => (y) {{ h = Constant <value_ints = [{shape}]> () y = Reshape(x, h) }}"
            )
        };
        let differs = |to: &str| {
            format!("input 0 of shape [n, s, 8] cannot be reshaped to {to}: element counts differ")
        };
        check_faults(&heads("0, 0, 3, 4"), &[&differs("[n, s, 3, 4]")]);
        check_faults(&heads("0, 0, 3, -1"), &[&differs("[n, s, 3, ?]")]);
        // A data-dependent size may be 0 in every run.
        let found = "g (bool[n] x) => (y) {
            at = NonZero(x)
            each = Transpose(at)
            twice = Concat <axis = 1> (each, each)
            h = Constant <value_ints = [0, 3]> ()
            y = Reshape(twice, h)
        }";
        check(found, &["twice: int64[at_dim_1, 2]"]);
        check(&heads("0, 0, 2, -1"), &["y: float[n, s, 2, 4]"]);
        check(
            &at(4, "g (float[n, 6] x) => (y) { y = Reshape <shape = [-1, 2, 3]> (x) }"),
            &["y: float[n, 2, 3]"],
        );
        check_call("float[n, 6] x, int64[3] s", "Reshape(x, s)", "float[y0_dim_0, y0_dim_1, y0_dim_2]");
    }

    #[test]
    fn reshape_to_a_shape_computed_from_input_dimensions_is_symbolic() {
        let text = "g (float[n, s, 12] x) => (y) {
            shape = Shape(x)
            zero = Constant <value_int = 0> ()
            batch = Gather(shape, zero)
            batches = Unsqueeze(batch, axes)
            axes = Constant <value_ints = [0]> ()
            one = Constant <value_int = 1> ()
            length = Gather(shape, one)
            two = Constant <value_int = 2> ()
            half = Div(length, two)
            halves = Unsqueeze(half, axes)
            rest = Constant <value_ints = [2, 12]> ()
            target = Concat <axis = 0> (batches, halves, rest)
            y = Reshape(x, target)
        }";
        check(text, &["target = [n, floor(s / 2), 2, 12]", "y: float[n, floor(s / 2), 2, 12]"]);
    }

    /// The negation of a size of 1 is -1, which requests an inferred dimension.
    #[test]
    fn negated_size_in_a_target_shape_may_be_the_sentinel() {
        let text = "g (float[n, s, 6] x) => (y) {
            sizes = Shape(x)
            length = Shape <start = 1, end = 2> (x)
            minus = Neg(length)
            target = Concat <axis = 0> (sizes, minus)
            y = Reshape(x, target)
        }";
        check(text, &["target = [n, s, 6, -s]", "y: float[n, s, 6, 1]"]);
    }

    #[test]
    fn squeeze_and_unsqueeze_support_attribute_and_input_axes() {
        check_call("float[n, 1, 3] x", "Squeeze(x)", "float[...]");
        check_call("float[2, 1, 3] x", "Squeeze(x)", "float[2, 3]");
        check_call("float[n, 1, 3] x, int64[1] axes", "Squeeze(x, axes)", "float[y0_dim_0, y0_dim_1]");
        for (axes, call) in [("int64[1, 0]", "Unsqueeze (x, axes)"), ("int64[1, 1]", "ReduceMax (x, axes)")] {
            check_faults(
                &at(18, &format!("g (float[n, 2] x, {axes} axes) => (y) {{ y = {call} }}")),
                &["input 1 has rank 2, but must have rank at most 1"],
            );
        }
        check(&at(11, "g (float[n, 1, 3] x) => (y) { y = Squeeze <axes = [-2]> (x) }"), &["y: float[n, 3]"]);
        check(
            &at(11, "g (float[n, 3] x) => (y) { y = Unsqueeze <axes = [0, -1]> (x) }"),
            &["y: float[1, n, 3, 1]"],
        );
        check_call("float[n, 3, m] x", "Flatten(x)", "float[n, 3*m]");
        check_call("float[n, 3, m] x", "Flatten <axis = 3> (x)", "float[3*m*n, 1]");
        check_faults(
            &at(11, "g (float[n, 2] x) => (y) { y = Squeeze <axes = [1]> (x) }"),
            &["`axes` must only contain axes of size 1"],
        );
    }
}
