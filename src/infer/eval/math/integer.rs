//! Bit operations.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::number::{Pair, map_numbers};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `BitwiseAnd`, `BitwiseOr` and `BitwiseXor` of integers.
pub(super) fn bitwise(cx: &Cx) -> Result<Array> {
    let apply: fn(i128, i128) -> i128 = match cx.call.op {
        "BitwiseAnd" => |a, b| a & b,
        "BitwiseOr" => |a, b| a | b,
        "BitwiseXor" => |a, b| a ^ b,
        _ => return Err(Refusal::Unsupported),
    };
    let pair = Pair::of(cx)?;
    if !pair.a.elem().is_integer() {
        return bad("an input must be an integer tensor");
    }
    pair.combine(|a, _| a, apply)
}

/// Computes `BitwiseNot` of integers.
pub(super) fn bitwise_not(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    if !x.elem().is_integer() {
        return bad("an input must be an integer tensor");
    }
    map_numbers(x, |x| x, |x| !x)
}

/// Computes `BitShift` as specified for opset 28.
/// Shifting by the type's width or more, or by a negative amount, results in 0, or in −1 if a negative number is
/// shifted right.
pub(super) fn shift(cx: &Cx) -> Result<Array> {
    let pair = Pair::of(cx)?;
    let bits = match pair.a.elem() {
        elem if elem.is_integer() => elem.bits().unwrap_or(64) as i128,
        _ => return bad("an input must be an integer tensor"),
    };
    let clamped = move |by: i128| if (0..bits).contains(&by) { by } else { bits };
    match cx.text("direction", "").as_str() {
        "LEFT" => pair.combine(|a, _| a, |a, by| a << clamped(by)),
        "RIGHT" => pair.combine(|a, _| a, |a, by| a >> clamped(by)),
        _ => bad("`direction` must be LEFT or RIGHT"),
    }
}

/// Returns the element type whose number is an attribute; `None` if the attribute is absent or 0.
pub fn elem_attr(cx: &Cx, name: &str) -> Result<Option<ElemType>> {
    match cx.int_attr(name) {
        None | Some(0) => Ok(None),
        Some(number) => i32::try_from(number)
            .ok()
            .and_then(ElemType::from_number)
            .map(Some)
            .ok_or(Refusal::BadInput("unknown element type")),
    }
}

/// Computes `BitCast` between element types of equal width; strings are not supported.
pub(super) fn bit_cast(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let Some(to) = elem_attr(cx, "to")? else { return bad("the attribute `to` is required") };
    match x.to_raw() {
        Some(raw) if to.bits() == x.elem().bits() => Array::from_raw(to, x.shape().to_vec(), &raw),
        _ => bad("the element types must have the same bit width"),
    }
}
