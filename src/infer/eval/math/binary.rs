//! Arithmetic on two or more tensors, with broadcasting.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::cast_to;
use crate::infer::eval::number::Pair;
use crate::infer::eval::shape::{broadcast, spread};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `Add`, `Sub` and `Mul`; integers wrap on overflow.
pub(super) fn arithmetic(cx: &Cx) -> Result<Array> {
    let pair = Pair::of(cx)?;
    match cx.call.op {
        "Add" => pair.combine(|a, b| a + b, |a, b| a + b),
        "Sub" => pair.combine(|a, b| a - b, |a, b| a - b),
        "Mul" => pair.combine(|a, b| a * b, i128::wrapping_mul),
        _ => Err(Refusal::Unsupported),
    }
}

/// Returns the divisor; fails if it is an integer tensor that contains zero.
fn divisor(b: &Array) -> Result<&Array> {
    match b.elem().is_integer() && b.ints()?.contains(&0) {
        true => bad("integer division by zero"),
        false => Ok(b),
    }
}

/// Computes `Div`; integers round toward zero.
pub(super) fn div(cx: &Cx) -> Result<Array> {
    divisor(cx.tensor(1)?)?;
    Pair::of(cx)?.combine(|a, b| a / b, |a, b| a / b)
}

/// Computes `Mod`: the remainder has the dividend's sign with `fmod`, otherwise the divisor's.
pub(super) fn modulo(cx: &Cx) -> Result<Array> {
    let b = divisor(cx.tensor(1)?)?;
    if cx.flag("fmod", false)? {
        return Pair::of(cx)?.combine(|a, b| a % b, |a, b| a % b);
    }
    if b.elem().is_float() && cx.version() < 28 {
        return bad("`fmod` must be 1 for floats before opset 28");
    }
    let floored = |a: f64, b: f64| match a % b {
        r if r == 0.0 => r.copysign(b),
        r if (r < 0.0) != (b < 0.0) => r + b,
        r => r,
    };
    Pair::of(cx)?.combine(floored, |a, b| (a % b + b) % b)
}

/// Computes `Pow`. Base and exponent may differ in type; the result has the base's type.
pub(super) fn pow(cx: &Cx) -> Result<Array> {
    let pair = Pair::of(cx)?;
    let (a, b) = (pair.a, pair.b);
    if a.elem().is_integer() && b.elem().is_integer() {
        let powers = pair.zip(&a.ints()?, &b.ints()?, int_pow);
        let powers: Option<Vec<i128>> = powers.into_iter().collect();
        let powers = powers.ok_or(Refusal::BadInput("0 raised to a negative power"))?;
        return Array::from_ints(a.elem(), pair.shape, powers);
    }
    let powers = pair.zip(&a.f64s()?, &b.f64s()?, f64::powf);
    let powers = Array::from_f64s(ElemType::Double, pair.shape, powers)?;
    cast_to(&powers, a.elem())
}

/// Raises an integer to a power; `None` for 0 to a negative power.
/// Any other base than ±1 to a negative power is a fraction, which truncates to 0.
fn int_pow(base: i128, exponent: i128) -> Option<i128> {
    match u64::try_from(exponent) {
        Ok(mut exponent) => {
            let (mut power, mut square) = (1i128, base);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    power = power.wrapping_mul(square);
                }
                square = square.wrapping_mul(square);
                exponent >>= 1;
            }
            Some(power)
        }
        Err(_) => match base {
            0 => None,
            1 => Some(1),
            -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
            _ => Some(0),
        },
    }
}

/// Computes `Max`, `Min`, `Sum` and `Mean` of any number of tensors; NaN propagates.
pub(super) fn variadic(cx: &Cx) -> Result<Array> {
    let inputs = cx.tensors()?;
    let Some(first) = inputs.first() else { return bad("at least one input is required") };
    let elem = first.elem();
    if inputs.iter().any(|input| input.elem() != elem) {
        return bad("the element types of the inputs differ");
    }
    if cx.version() < 8 && inputs.iter().any(|input| input.shape() != first.shape()) {
        return bad("broadcasting is not supported before opset 8");
    }
    let shape = broadcast(&inputs.iter().map(|input| input.shape()).collect::<Vec<_>>())?;
    cx.room(&shape)?;
    if elem.is_integer() {
        let fold: fn(i128, i128) -> i128 = match cx.call.op {
            "Max" => Ord::max,
            "Min" => Ord::min,
            _ => return Err(Refusal::Unsupported),
        };
        return Array::from_ints(elem, shape.clone(), accumulate(&inputs, &shape, Array::ints, fold)?);
    }
    let fold: fn(f64, f64) -> f64 = match cx.call.op {
        // Negative zero is less than positive zero, whichever comes first.
        "Max" => |a, b| if a.is_nan() || a > b || a == b && a.is_sign_positive() { a } else { b },
        "Min" => |a, b| if a.is_nan() || a < b || a == b && a.is_sign_negative() { a } else { b },
        _ => |a, b| a + b,
    };
    let mut total = accumulate(&inputs, &shape, Array::f64s, fold)?;
    if cx.call.op == "Mean" {
        total.iter_mut().for_each(|sum| *sum /= inputs.len() as f64);
    }
    Array::from_f64s(elem, shape, total)
}

fn accumulate<T: Copy>(
    inputs: &[&Array],
    shape: &[usize],
    read: fn(&Array) -> Result<Vec<T>>,
    fold: fn(T, T) -> T,
) -> Result<Vec<T>> {
    let mut total: Option<Vec<T>> = None;
    for input in inputs {
        let values = read(input)?;
        let spread = spread(input.shape(), shape)?.into_iter().map(|i| values[i]);
        total = Some(match total {
            None => spread.collect(),
            Some(total) => total.into_iter().zip(spread).map(|(a, b)| fold(a, b)).collect(),
        });
    }
    total.ok_or(Refusal::BadInput("at least one input is required"))
}
