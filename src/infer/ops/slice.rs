//! Shape rules of `Slice` and `Range`.

use super::Cx;
use crate::graph::dim::{Answer, Dim, Interval};
use crate::infer::shape::{Shape, Size, known, number};

/// `Slice`: starts and ends are attributes before opset 10, and inputs since.
pub fn slice(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let Some(cuts) = cuts(cx, dims.len()) else {
        cx.set_shape(0, Shape::of_rank(dims.len()));
        return Some(());
    };
    for cut in cuts {
        let axis = cx.axis(cut.axis, dims.len())?;
        dims[axis] = cut.length(&dims[axis], cx);
    }
    cx.set_dims(0, dims);
    Some(())
}

/// Bounds and step of a slice along one axis.
struct Cut {
    axis: i64,
    start: Size,
    end: Size,
    step: Size,
}

/// Reads the slice of each axis that the call names, or returns `None` if the axes are unknown.
fn cuts(cx: &Cx, rank: usize) -> Option<Vec<Cut>> {
    let attr = |name: &str| Some(cx.ints_attr(name)?.iter().map(|&int| known(int)).collect::<Vec<_>>());
    let by_attr = cx.attr("starts").is_some();
    let list = |name: &str, input: usize| {
        if by_attr { attr(name) } else { cx.ints(input).or_else(|| Some(vec![None; cx.length(input)?])) }
    };
    let starts = list("starts", 1);
    let ends = list("ends", 2);
    let given = |name: &str, input: usize| if by_attr { cx.attr(name).is_some() } else { cx.has(input) };
    let axes: Vec<i64> = match given("axes", 3) {
        true => list("axes", 3)?.iter().map(number).collect::<Option<_>>()?,
        false => (0..starts.as_ref().or(ends.as_ref()).map_or(rank, Vec::len) as i64).collect(),
    };
    let steps = if by_attr || !cx.has(4) { Some(vec![known(1); axes.len()]) } else { list("", 4) };
    let at = |list: &Option<Vec<Size>>, index: usize| list.as_ref()?.get(index)?.clone();
    let cut = |(index, &axis): (usize, &i64)| Cut {
        axis,
        start: at(&starts, index),
        end: at(&ends, index),
        step: at(&steps, index),
    };
    Some(axes.iter().enumerate().map(cut).collect())
}

/// A bound of at least this, such as `INT32_MAX` or `INT64_MAX`, counts as beyond the end of any axis.
const FAR: i64 = i32::MAX as i64;

impl Cut {
    /// Returns the length `ceil((end - start) / step)` of the slice, for an axis of this size.
    ///
    /// Negative bounds count from the end. Both bounds are clamped to the axis.
    fn length(&self, size: &Size, cx: &Cx) -> Size {
        let (size, step) = (size.as_ref()?, number(&self.step)?);
        let (start, end) = (self.start.as_ref(), self.end.as_ref());
        let last = size.sub(1)?;
        let zero = Dim::known(0);
        let (from, to) = if step > 0 {
            let whole = |dim: &Dim| between(&from_end(dim, size, cx)?, &zero, size, cx);
            (whole(start?)?, if is_far(end?) { size.clone() } else { whole(end?)? })
        } else {
            // For an end such as `INT64_MAX`, the slice is empty by the specification, but ONNX Runtime
            // slices back to the first element.
            let end = end.filter(|end| !is_far(end));
            let start = if is_far(start?) { last.clone() } else { from_end(start?, size, cx)? };
            let end = if is_far_back(end?) { Dim::known(-1) } else { from_end(end?, size, cx)? };
            (between(&start, &zero, &last, cx)?, between(&end, &Dim::known(-1), &last, cx)?)
        };
        larger(&to.sub(&from)?.ceil_div(step)?, &zero, cx)
    }
}

fn is_far(dim: &Dim) -> bool {
    dim.as_const().is_some_and(|n| n >= FAR)
}

fn is_far_back(dim: &Dim) -> bool {
    dim.as_const().is_some_and(|n| n <= -FAR)
}

/// Converts an index, possibly negative (from the end), to one counted from 0.
///
/// Returns `None` if the sign of the index is unknown.
fn from_end(index: &Dim, size: &Dim, cx: &Cx) -> Size {
    if is_far_back(index) {
        return known(0);
    }
    match index.at_least(&Dim::known(0), cx.bounds()) {
        Answer::Always => Some(index.clone()),
        Answer::Never => index.add(size),
        Answer::Unknown => None,
    }
}

/// Clamps an index to a range.
fn between(dim: &Dim, low: &Dim, high: &Dim, cx: &Cx) -> Size {
    smaller(&larger(dim, low, cx)?, high, cx)
}

/// Returns the larger of two sizes, decided by the symbol bounds if possible.
pub fn larger(a: &Dim, b: &Dim, cx: &Cx) -> Size {
    match a.at_least(b, cx.bounds()) {
        Answer::Always => Some(a.clone()),
        Answer::Never => Some(b.clone()),
        Answer::Unknown => a.maximum(b),
    }
}

/// Returns the smaller of two sizes, decided by the symbol bounds if possible.
pub fn smaller(a: &Dim, b: &Dim, cx: &Cx) -> Size {
    match a.at_least(b, cx.bounds()) {
        Answer::Always => Some(b.clone()),
        Answer::Never => Some(a.clone()),
        Answer::Unknown => a.minimum(b),
    }
}

/// `Range`: returns `max(0, ceil((limit - start) / delta))` numbers.
pub fn range(cx: &mut Cx) -> Option<()> {
    let length = (|| {
        let delta = if cx.has(2) { cx.whole_scalar(2)?.as_const()? } else { 1 };
        let (start, limit) = (cx.whole_scalar(0)?, cx.whole_scalar(1)?);
        let zero = Dim::known(0);
        larger(&limit.sub(&start)?.ceil_div(delta)?, &zero, cx)
    })();
    let length = length.or_else(|| range_of_floats(cx));
    let length = length.or_else(|| cx.new_size(0, 0, Interval::SIZE));
    cx.set_dims(0, vec![length]);
    Some(())
}

/// Returns the length of a `Range` of constant floats.
fn range_of_floats(cx: &Cx) -> Size {
    let at = |input: usize| cx.const_floats(input)?.first().copied();
    let (start, limit, delta) = (at(0)?, at(1)?, at(2)?);
    let length = ((limit - start) / delta).ceil().max(0.0);
    (length.is_finite() && length < FAR as f64).then(|| Dim::known(length as i64))
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check;

    #[test]
    fn slice_bounds_are_clamped_symbolically() {
        let check_slice = |start: &str, end: &str, step: &str, expected: &str| {
            let text = format!(
                "g (float[n, 10] x) => (y) {{
                    start = Constant <value_ints = [{start}]> ()
                    end = Constant <value_ints = [{end}]> ()
                    axis = Constant <value_ints = [0, 1]> ()
                    step = Constant <value_ints = [{step}]> ()
                    y = Slice(x, start, end, axis, step)
                }}"
            );
            check(&text, &[&format!("y: float{expected}")]);
        };
        check_slice("0, 2", "9223372036854775807, 5", "1, 1", "[n, 3]");
        check_slice("0, -3", "9223372036854775807, 9223372036854775807", "2, 1", "[floor((n + 1) / 2), 3]");
        check_slice("0, 9", "-1, 2", "1, -3", "[max(1, n) - 1, 3]");
        check_slice("-1, 20", "-9223372036854775808, -20", "-1, -1", "[n, 10]");
        check_slice("0, 0", "3, 0", "1, 1", "[min(3, n), 0]");
    }

    #[test]
    fn slice_before_opset_10_reads_attributes() {
        let text = "<ir_version: 6, opset_import: [\"\" : 9]> g (float[n, 10] x) => (y) {
            y = Slice <axes = [1], starts = [1], ends = [-1]> (x)
        }";
        check(text, &["y: float[n, 8]"]);
    }

    #[test]
    fn range_length_is_symbolic_for_integers_and_constant_for_floats() {
        let text = "g (float[n, m] x) => (y, z) {
            shape = Shape <end = 1> (x)
            size = Squeeze(shape)
            zero = Constant <value_int = 0> ()
            three = Constant <value_int = 3> ()
            y = Range(zero, size, three)
            a = Constant <value_float = 0.0> ()
            b = Constant <value_float = 1.0> ()
            d = Constant <value_float = 0.25> ()
            z = Range(a, b, d)
        }";
        check(text, &["y: int64[floor((n + 2) / 3)]", "z: float[4]"]);
    }
}
