//! Operators that pick or place elements by index.

use super::Cx;
use crate::graph::dim::{Dim, Interval};
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size, known, mul, number, product};

/// `Gather`: the indices take the place of an axis.
pub fn gather(cx: &mut Cx) -> Option<()> {
    let (data, indices) = (cx.dims(0)?, cx.dims(1)?);
    let axis = cx.axis_attr(0, data.len())?;
    let dims = [&data[..axis], indices, &data[axis + 1..]].concat();
    cx.set_dims(0, dims);
    Some(())
}

/// `GatherElements`: as the indices.
pub fn as_second(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(1);
    cx.set_shape(0, shape);
    Some(())
}

/// `GatherND`: the last axis of the indices names axes of the data, after the batch axes.
pub fn gather_nd(cx: &mut Cx) -> Option<()> {
    let (data, indices) = (cx.dims(0)?, cx.dims(1)?);
    let batch = usize::try_from(cx.int_or("batch_dims", 0)).ok()?;
    let (last, before) = indices.split_last()?;
    let named = usize::try_from(number(last)?).ok()?;
    let Some(rest) = data.get(batch + named..) else {
        cx.fault(Fault::Axis { axis: (batch + named) as i64, rank: data.len() });
        return None;
    };
    cx.set_dims(0, [before, rest].concat());
    Some(())
}

/// `OneHot`: a new axis as long as the depth.
pub fn one_hot(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(-1, dims.len() + 1)?;
    // The depth may be of any number type.
    let depth = cx.int_scalar(1).or_else(|| {
        let depth = *cx.const_floats(1)?.first()?;
        known(depth as i64)
    });
    if number(&depth).is_some_and(|depth| depth <= 0) {
        cx.fault(Fault::Value { name: "depth", why: "is not positive" });
    }
    let depth = depth.filter(|depth| depth.as_const().is_none_or(|depth| depth >= 0));
    dims.insert(axis, depth);
    cx.set_dims(0, dims);
    Some(())
}

/// `NonZero`: a column of indices for every element that is not zero.
pub fn non_zero(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0);
    // A scalar counts as a vector in some runtimes.
    let rows = dims.map(<[Size]>::len).filter(|&rank| rank > 0).and_then(|rank| known(rank as i64));
    let range = cx.up_to(&dims.and_then(product));
    let columns = cx.new_size(0, 1, range);
    cx.set_dims(0, vec![rows, columns]);
    Some(())
}

/// `Compress`: the slices along an axis (or the elements) for which a condition holds.
pub fn compress(cx: &mut Cx) -> Option<()> {
    let held = cx.const_ints(1).map(|flags| flags.iter().filter(|&&flag| flag != 0).count() as i64);
    let dims = cx.dims(0);
    let (axis, mut result) = match cx.int("axis") {
        Some(axis) => (cx.axis(axis, dims?.len())?, dims?.to_vec()),
        None => (0, vec![dims.and_then(product)]),
    };
    let range = cx.up_to(&result[axis]);
    result[axis] = match held {
        Some(held) => known(held),
        None => cx.new_size(0, axis, range),
    };
    cx.set_dims(0, result);
    Some(())
}

/// `Unique`: the unique elements (or slices), where each first was, where each is now, how often each was.
pub fn unique(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0);
    let (axis, mut result) = match cx.int("axis") {
        Some(axis) => (cx.axis(axis, dims?.len())?, dims?.to_vec()),
        None => (0, vec![dims.and_then(product)]),
    };
    let all = result[axis].clone();
    let mut range = cx.up_to(&all);
    let is_empty = all.as_ref().map(|all| all.at_least(&Dim::known(1), cx.bounds()));
    if is_empty.is_some_and(|filled| filled.is_always()) {
        range.lo = Some(1);
    }
    let count = cx.new_size(0, axis, range);
    result[axis] = count.clone();
    cx.set_dims(0, result);
    cx.set_dims(1, vec![count.clone()]);
    cx.set_dims(2, vec![all]);
    cx.set_dims(3, vec![count]);
    Some(())
}

/// `NonMaxSuppression`: batch, class and box of each that is selected.
pub fn non_max_suppression(cx: &mut Cx) -> Option<()> {
    let most = if cx.has(2) { cx.int_scalar(2) } else { known(0) };
    let pairs = mul(&cx.dim(1, 0), &cx.dim(1, 1));
    let range = cx.up_to(&mul(&pairs, &most));
    let selected = cx.new_size(0, 0, range);
    cx.set_dims(0, vec![selected, known(3)]);
    Some(())
}

/// `Multinomial`: samples for each row.
pub fn multinomial(cx: &mut Cx) -> Option<()> {
    let samples = cx.int_or("sample_size", 1);
    let elem = cx.elem_attr("dtype").or(Some(crate::graph::ElemType::Int32));
    cx.set_dims(0, vec![cx.dim(0, 0), known(samples)]);
    cx.set_elem(0, elem);
    Some(())
}

/// `Slice`: opset 1 with attributes, later with inputs.
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

/// What is cut out of one axis.
struct Cut {
    axis: i64,
    start: Size,
    end: Size,
    step: Size,
}

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

/// From here on a number stands for "to the end" (`INT32_MAX`, `INT64_MAX`).
const FAR: i64 = i32::MAX as i64;

impl Cut {
    /// The length of what is cut out of an axis of this size: `ceil((end - start) / step)`, both counted
    /// from the end if negative, and clamped to the axis.
    fn length(&self, size: &Size, cx: &Cx) -> Size {
        let (size, step) = (size.as_ref()?, number(&self.step)?);
        let (start, end) = (self.start.as_ref(), self.end.as_ref());
        let last = size.sub(1)?;
        let zero = Dim::known(0);
        let (from, to) = if step > 0 {
            let whole = |dim: &Dim| between(&from_end(dim, size, cx)?, &zero, size, cx);
            (whole(start?)?, if is_far(end?) { size.clone() } else { whole(end?)? })
        } else {
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

/// An index that may count from the end, from 0; `None` where its sign is not known.
fn from_end(index: &Dim, size: &Dim, cx: &Cx) -> Size {
    if is_far_back(index) {
        return known(0);
    }
    match index.at_least(&Dim::known(0), cx.bounds()) {
        crate::graph::dim::Answer::Always => Some(index.clone()),
        crate::graph::dim::Answer::Never => index.add(size),
        crate::graph::dim::Answer::Unknown => None,
    }
}

fn between(dim: &Dim, low: &Dim, high: &Dim, cx: &Cx) -> Size {
    smaller(&larger(dim, low, cx)?, high, cx)
}

/// The larger of the two, decided within the bounds where that is possible.
pub fn larger(a: &Dim, b: &Dim, cx: &Cx) -> Size {
    match a.at_least(b, cx.bounds()) {
        crate::graph::dim::Answer::Always => Some(a.clone()),
        crate::graph::dim::Answer::Never => Some(b.clone()),
        crate::graph::dim::Answer::Unknown => a.maximum(b),
    }
}

pub fn smaller(a: &Dim, b: &Dim, cx: &Cx) -> Size {
    match a.at_least(b, cx.bounds()) {
        crate::graph::dim::Answer::Always => Some(b.clone()),
        crate::graph::dim::Answer::Never => Some(a.clone()),
        crate::graph::dim::Answer::Unknown => a.minimum(b),
    }
}

/// `Range`: `max(0, ceil((limit - start) / delta))` numbers.
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

fn range_of_floats(cx: &Cx) -> Size {
    let at = |input: usize| cx.const_floats(input)?.first().copied();
    let (start, limit, delta) = (at(0)?, at(1)?, at(2)?);
    let length = ((limit - start) / delta).ceil().max(0.0);
    (length.is_finite() && length < FAR as f64).then(|| Dim::known(length as i64))
}
