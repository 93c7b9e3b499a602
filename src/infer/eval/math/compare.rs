//! Comparisons and logic.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use crate::infer::eval::cx::Cx;
use crate::infer::eval::number::Pair;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Equal` and the ordering comparisons; any comparison with NaN is false.
pub(super) fn compare(cx: &Cx) -> Result<Array> {
    let accepts: &[Ordering] = match cx.call.op {
        "Equal" => &[Equal],
        "Greater" => &[Greater],
        "Less" => &[Less],
        "GreaterOrEqual" => &[Greater, Equal],
        "LessOrEqual" => &[Less, Equal],
        _ => return Err(Refusal::Unsupported),
    };
    // NaN is unordered, even with itself.
    let test = |order: Option<Ordering>| order.is_some_and(|order| accepts.contains(&order));
    let pair = Pair::of(cx)?;
    let (a, b) = (pair.a, pair.b);
    if a.elem() != b.elem() {
        return bad("the element types of the inputs differ");
    }
    let data = if a.elem().is_float() {
        pair.zip(&a.f64s()?, &b.f64s()?, |a, b| test(a.partial_cmp(&b)))
    } else if let (Ok(a), Ok(b)) = (a.as_strings(), b.as_strings()) {
        pair.zip(a, b, |a, b| test(a.partial_cmp(&b)))
    } else {
        pair.zip(&a.ints()?, &b.ints()?, |a, b| test(a.partial_cmp(&b)))
    };
    Array::bools(pair.shape, data)
}

/// Computes `And`, `Or` and `Xor` of bool tensors.
pub(super) fn logic(cx: &Cx) -> Result<Array> {
    let apply: fn(bool, bool) -> bool = match cx.call.op {
        "And" => |a, b| a && b,
        "Or" => |a, b| a || b,
        "Xor" => |a, b| a != b,
        _ => return Err(Refusal::Unsupported),
    };
    let pair = Pair::of(cx)?;
    let data = pair.zip(pair.a.as_bools()?, pair.b.as_bools()?, apply);
    Array::bools(pair.shape, data)
}

/// Computes `Not` of a bool tensor.
pub(super) fn not(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    Array::bools(x.shape().to_vec(), x.as_bools()?.iter().map(|x| !x).collect())
}
