//! Elementwise functions of one tensor.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::number::{map_numbers, map_reals, test_reals};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Abs` of floats or integers; the minimum of a signed type is unchanged.
pub(super) fn abs(cx: &Cx) -> Result<Array> {
    map_numbers(cx.tensor(0)?, f64::abs, i128::abs)
}

/// Computes `Neg` of floats or integers; the minimum of a signed type is unchanged.
pub(super) fn neg(cx: &Cx) -> Result<Array> {
    map_numbers(cx.tensor(0)?, |x| -x, |x| -x)
}

/// Computes `Sign` of floats or integers: −1, 0 or 1, and NaN for NaN.
pub(super) fn sign(cx: &Cx) -> Result<Array> {
    // `signum` of ±0 is ±1, and of NaN is NaN.
    map_numbers(cx.tensor(0)?, |x| if x == 0.0 { 0.0 } else { x.signum() }, i128::signum)
}

/// Computes functions of a real number without attributes.
pub(super) fn float_function(cx: &Cx) -> Result<Array> {
    let function: fn(f64) -> f64 = match cx.call.op {
        "Sqrt" => f64::sqrt,
        "Exp" => f64::exp,
        "Log" => f64::ln,
        "Reciprocal" => f64::recip,
        "Floor" => f64::floor,
        "Ceil" => f64::ceil,
        "Round" => f64::round_ties_even,
        "Erf" => libm::erf,
        "Sin" => f64::sin,
        "Cos" => f64::cos,
        "Tan" => f64::tan,
        "Asin" => f64::asin,
        "Acos" => f64::acos,
        "Atan" => f64::atan,
        "Sinh" => f64::sinh,
        "Cosh" => f64::cosh,
        "Tanh" => f64::tanh,
        "Asinh" => libm::asinh,
        "Acosh" => libm::acosh,
        "Atanh" => libm::atanh,
        _ => return Err(Refusal::Unsupported),
    };
    map_reals(cx.tensor(0)?, function)
}

/// Computes `IsNaN` of floats.
pub(super) fn is_nan(cx: &Cx) -> Result<Array> {
    test_reals(cx.tensor(0)?, f64::is_nan)
}

/// Computes `IsInf` of floats, for the signs that the attributes select.
pub(super) fn is_inf(cx: &Cx) -> Result<Array> {
    let negative = cx.flag("detect_negative", true)?;
    let positive = cx.flag("detect_positive", true)?;
    test_reals(cx.tensor(0)?, |x| x == f64::INFINITY && positive || x == f64::NEG_INFINITY && negative)
}

/// Computes `Clip`; if the lower bound is above the upper bound, the result is the upper bound.
/// Bounds are inputs since opset 11, and attributes before. Since opset 6, the default bounds of a float
/// tensor are the lowest and the greatest finite number of its type (before opset 11, of `float`). Clipping
/// with the default bounds makes infinities finite.
pub(super) fn clip(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    if x.elem().is_integer() {
        let bound = |i| match cx.maybe(i)? {
            Some(array) => match array.ints()?.as_slice() {
                [bound] => Ok(Some(*bound)),
                _ => bad("a bound must be a scalar"),
            },
            None => Ok(None),
        };
        let (low, high) = (bound(1)?.unwrap_or(i128::MIN), bound(2)?.unwrap_or(i128::MAX));
        return map_numbers(x, |x| x, |x| x.max(low).min(high));
    }
    let finite = match cx.version() {
        ..6 => None,
        6..11 => Some(f64::from(f32::MAX)),
        _ => largest(x.elem()),
    };
    let low = cx.scalar(1)?.or(cx.float_attr("min")).or(finite.map(|most| -most));
    let high = cx.scalar(2)?.or(cx.float_attr("max")).or(finite);
    map_reals(x, |x| {
        let x = if low.is_some_and(|low| x < low) { low.unwrap_or(x) } else { x };
        if high.is_some_and(|high| x > high) { high.unwrap_or(x) } else { x }
    })
}

/// Returns the greatest finite number of a float type.
fn largest(elem: ElemType) -> Option<f64> {
    Some(match elem {
        ElemType::Float16 => 65504.0,
        ElemType::Bfloat16 => half::bf16::MAX.to_f64(),
        ElemType::Float => f64::from(f32::MAX),
        ElemType::Double => f64::MAX,
        _ => return None,
    })
}
