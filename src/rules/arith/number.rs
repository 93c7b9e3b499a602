//! Arithmetic on numbers: integers with overflow checks, symbolic dimensions, floats.

use std::cmp::Ordering;

use super::{binary as binary_of_lists, compare, elementwise};
use crate::graph::dim::Dim;
use crate::rules::datum::Datum;
use crate::rules::expr::{BinaryOp, CompareOp};
use crate::rules::func::Func;

/// Negates a number, or each element of a list; the opposite of 0.0 is -0.0.
pub fn negate(datum: &Datum) -> Option<Datum> {
    binary_of_lists(BinaryOp::Mul, &Datum::Int(-1), datum)
}

/// Applies an arithmetic operator to two numbers.
pub fn binary(op: BinaryOp, left: &Datum, right: &Datum) -> Option<Datum> {
    match (left, right) {
        (Datum::Int(a), Datum::Int(b)) => int(op, *a, *b).map(Datum::Int),
        (Datum::Float(_), _) | (_, Datum::Float(_)) => {
            float(op, as_float(left)?, as_float(right)?).map(Datum::Float)
        }
        _ => dim(op, &as_dim(left)?, &as_dim(right)?).map(Datum::from),
    }
}

fn int(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_rem(b).filter(|&rest| rest == 0).and_then(|_| a.checked_div(b)),
        BinaryOp::FloorDiv => {
            let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            Some(if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient })
        }
        BinaryOp::Mod => {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
    }
}

fn dim(op: BinaryOp, a: &Dim, b: &Dim) -> Option<Dim> {
    match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b),
        BinaryOp::Div => a.div_exact(b),
        BinaryOp::FloorDiv => a.floor_div(b),
        BinaryOp::Mod => a.modulo(b),
    }
}

fn float(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod if b == 0.0 => return None,
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv => (a / b).floor(),
        BinaryOp::Mod => a - b * (a / b).floor(),
    })
}

fn as_float(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Float(float) => Some(*float),
        Datum::Int(int) => Some(*int as f64),
        _ => None,
    }
}

fn as_dim(datum: &Datum) -> Option<Dim> {
    match datum {
        Datum::Int(int) => Some(Dim::known(*int)),
        Datum::Dim(dim) => Some(dim.clone()),
        _ => None,
    }
}

/// Returns whether two numbers are equal.
/// Unless both are integers, a number that is representable as a 32-bit float equals every number that rounds
/// to it, because attributes and most weights are 32-bit floats, while numbers in rules have 64 bits.
pub fn equal(left: &Datum, right: &Datum) -> Option<bool> {
    if let (Datum::Int(a), Datum::Int(b)) = (left, right) {
        return Some(a == b);
    }
    let (a, b) = (as_float(left)?, as_float(right)?);
    let is_narrow = |float: f64| f64::from(float as f32) == float;
    Some(a == b || (a as f32 == b as f32 && (is_narrow(a) || is_narrow(b))))
}

/// Compares two numbers; `None` for NaN and for symbolic dimensions.
pub fn order(left: &Datum, right: &Datum) -> Option<Ordering> {
    match (left, right) {
        (Datum::Int(a), Datum::Int(b)) => Some(a.cmp(b)),
        _ => as_float(left)?.partial_cmp(&as_float(right)?),
    }
}

/// Evaluates a function about numbers; `None` if the function is undefined for these arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::Sum, [Datum::List(items)]) => fold(BinaryOp::Add, 0, items),
        (Func::Product, [Datum::List(items)]) => fold(BinaryOp::Mul, 1, items),
        (Func::Min, [Datum::List(items)]) => extreme(Func::Min, items),
        (Func::Max, [Datum::List(items)]) => extreme(Func::Max, items),
        (Func::Min | Func::Max, [left, right]) => {
            elementwise(left, right, &|a, b| extreme(func, &[a.clone(), b.clone()]))
        }
        (Func::Abs, [Datum::Int(int)]) => int.checked_abs().map(Datum::Int),
        (Func::Abs, [Datum::Float(float)]) => Some(Datum::Float(float.abs())),
        (Func::Sqrt, [number]) => {
            let root = as_float(number)?.sqrt();
            (!root.is_nan()).then_some(Datum::Float(root))
        }
        (Func::Cos, [number]) => Some(Datum::Float(as_float(number)?.cos())),
        (Func::ToFloat, [number]) => as_float(number).map(Datum::Float),
        (Func::ToInt, [Datum::Int(int)]) => Some(Datum::Int(*int)),
        (Func::ToInt, [Datum::Float(float)]) => to_int(*float).map(Datum::Int),
        _ => None,
    }
}

/// Converts a float without a fraction whose magnitude is at most 2^53.
fn to_int(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float.abs() <= (1u64 << 53) as f64).then_some(float as i64)
}

fn fold(op: BinaryOp, start: i64, items: &[Datum]) -> Option<Datum> {
    items.iter().try_fold(Datum::Int(start), |sum, item| binary(op, &sum, item))
}

fn extreme(func: Func, items: &[Datum]) -> Option<Datum> {
    let (first, rest) = items.split_first()?;
    rest.iter().try_fold(first.clone(), |best, item| match (&best, item) {
        (Datum::Dim(_), _) | (_, Datum::Dim(_)) => {
            let (a, b) = (as_dim(&best)?, as_dim(item)?);
            if func == Func::Min { a.minimum(b) } else { a.maximum(b) }.map(Datum::from)
        }
        _ => {
            let op = if func == Func::Min { CompareOp::Lt } else { CompareOp::Gt };
            Some(if compare(op, item, &best)? { item.clone() } else { best })
        }
    })
}
