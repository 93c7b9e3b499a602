//! Shape rules of operators that gather, scatter or select elements.

use super::Cx;
use crate::graph::dim::Dim;
use crate::infer::fault::Fault;
use crate::infer::shape::{Size, known, mul, number, product};

/// `Gather`: replaces an axis of the data by the shape of the indices.
pub fn gather(cx: &mut Cx) -> Option<()> {
    let (data, indices) = (cx.dims(0)?, cx.dims(1)?);
    let axis = cx.axis_attr(0, data.len())?;
    let dims = [&data[..axis], indices, &data[axis + 1..]].concat();
    cx.set_dims(0, dims);
    Some(())
}

/// `GatherElements`: the output has the shape of the indices.
pub fn as_second(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(1);
    cx.set_shape(0, shape);
    Some(())
}

/// `GatherND`: the last axis of the indices holds coordinates into the data, after the batch axes.
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

/// `OneHot`: inserts an axis of size `depth`.
pub fn one_hot(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(-1, dims.len() + 1)?;
    // The depth may be of any numeric type.
    let depth = cx.int_scalar(1).or_else(|| {
        let depth = *cx.const_floats(1)?.first()?;
        known(depth as i64)
    });
    if number(&depth).is_some_and(|depth| depth <= 0) {
        cx.fault(Fault::Value { name: "depth", why: "must be positive" });
    }
    let depth = depth.filter(|depth| depth.as_const().is_none_or(|depth| depth >= 0));
    dims.insert(axis, depth);
    cx.set_dims(0, dims);
    Some(())
}

/// `NonZero`: returns one column of indices for each nonzero element.
pub fn non_zero(cx: &mut Cx) -> Option<()> {
    let dims = cx.dims(0);
    // Some runtimes treat a scalar as a vector.
    let rows = dims.map(<[Size]>::len).filter(|&rank| rank > 0).and_then(|rank| known(rank as i64));
    let range = cx.up_to(&dims.and_then(product));
    let columns = cx.new_size(0, 1, range);
    cx.set_dims(0, vec![rows, columns]);
    Some(())
}

/// `Compress`: selects slices along an axis, or elements, by a condition.
pub fn compress(cx: &mut Cx) -> Option<()> {
    if cx.rank(0).is_some() {
        cx.expect_rank_at_least(0, 1)?;
    }
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

/// `Unique`: returns the unique elements or slices, their first and inverse indices, and their counts.
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

/// `NonMaxSuppression`: returns the batch, class and box index of each selected box.
pub fn non_max_suppression(cx: &mut Cx) -> Option<()> {
    let most = if cx.has(2) { cx.int_scalar(2) } else { known(0) };
    let pairs = mul(&cx.dim(1, 0), &cx.dim(1, 1));
    let range = cx.up_to(&mul(&pairs, &most));
    let selected = cx.new_size(0, 0, range);
    cx.set_dims(0, vec![selected, known(3)]);
    Some(())
}

/// `Multinomial`: returns `sample_size` samples for each row.
pub fn multinomial(cx: &mut Cx) -> Option<()> {
    let samples = cx.int_or("sample_size", 1);
    let elem = cx.elem_attr("dtype").or(Some(crate::graph::ElemType::Int32));
    cx.set_dims(0, vec![cx.dim(0, 0), known(samples)]);
    cx.set_elem(0, elem);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    #[test]
    fn gather_combines_data_and_index_shapes() {
        check_call("float[n, 5, m] x, int64[a, b] i", "Gather <axis = 1> (x, i)", "float[n, a, b, m]");
        check_call("float[n, 5] x, int64 i", "Gather <axis = 1> (x, i)", "float[n]");
        check_call("float[n, 5] x, int64[n, 2] i", "GatherElements <axis = 1> (x, i)", "float[n, 2]");
        check_call("float[n, 5, m] x, int64[k, 2] i", "GatherND(x, i)", "float[k, m]");
        check_call(
            "float[n, 5, m] x, int64[n, k, 1] i",
            "GatherND <batch_dims = 1> (x, i)",
            "float[n, k, m]",
        );
        check_call("float[n, 5] x, int64[k, 2] i, float[k] u", "ScatterND(x, i, u)", "float[n, 5]");
    }

    #[test]
    fn data_dependent_dimensions_become_symbols() {
        check_call("float[n, 5] x", "NonZero(x)", "int64[2, y0_dim_1]");
        check_call("float[n, 5] x, bool[n] c", "Compress <axis = 0> (x, c)", "float[y0_dim_0, 5]");
        check_call("float[9] x", "Unique(x)", "float[y0_dim_0]; int64[y0_dim_0]; int64[9]; int64[y0_dim_0]");
        check_call("float[1, b, 4] x, float[1, c, b] s", "NonMaxSuppression(x, s)", "int64[y0_dim_0, 3]");
        check_call("float start, float limit, float step", "Range(start, limit, step)", "float[y0_dim_0]");
    }

    /// The slice length is `min(20, index_dim_1)`, which simplifies because the symbol is at most 3.
    #[test]
    fn symbol_of_a_data_dependent_dimension_is_bounded() {
        let text = "g (float[3] x, float[20] table) => (y) {
            index = NonZero(x)
            shape = Shape <start = 1> (index)
            zero = Constant <value_ints = [0]> ()
            y = Slice(table, zero, shape)
        }";
        check(text, &["y: float[index_dim_1]"]);
    }

    #[test]
    fn one_hot_depth_must_be_positive() {
        let text = |depth: i64| {
            format!(
                "g (int64[n, 3] i, float[2] v) => (y) {{
                    depth = Constant <value_int = {depth}> ()
                    y = OneHot <axis = 1> (i, depth, v)
                }}"
            )
        };
        check(&text(7), &["y: float[n, 7, 3]"]);
        check_faults(&text(-1), &["`depth` must be positive"]);
    }
}
