//! Rule functions about element types.

use crate::graph::ElemType;
use crate::rules::datum::Datum;
use crate::rules::func::Func;

/// Evaluates a function about element types; `None` if the function is undefined for these arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    let first = elem(args.first()?)?;
    Some(match (func, &args[1..]) {
        (Func::ElemBits, []) => Datum::Int(i64::try_from(first.bits()?).ok()?),
        (Func::IsInteger, []) => Datum::Bool(first.is_integer()),
        (Func::IsFloat, []) => Datum::Bool(first.is_float()),
        (Func::IsSigned, []) => {
            let signed_float = first.is_float() && first != ElemType::Float8e8m0;
            Datum::Bool(first.is_signed_integer() || signed_float)
        }
        (Func::CastFits, [to]) => Datum::Bool(fits(first, elem(to)?)?),
        _ => return None,
    })
}

/// Converts a datum to an element type. In attributes such as `to`, an integer represents the type.
pub fn elem(datum: &Datum) -> Option<ElemType> {
    match datum {
        Datum::Elem(elem) => Some(*elem),
        Datum::Int(number) => ElemType::from_number(i32::try_from(*number).ok()?),
        _ => None,
    }
}

/// Finite numbers that a type can represent exactly.
/// Each number is a multiple of two to the power of `low`, with at most `digits` significant bits.
struct Range {
    digits: u32,
    low: i32,
    /// Exponent of the largest number, which is less than two to the power of `high + 1`.
    high: i32,
    signed: bool,
}

/// Returns true if every value of `from` is exactly representable in `to`.
/// Unless the types are equal, returns `None` for most pairs with a string or complex type, and if `to` is a
/// float of fewer than 16 bits.
fn fits(from: ElemType, to: ElemType) -> Option<bool> {
    if from == to {
        return Some(true);
    }
    if to == ElemType::Bool {
        return Some(false);
    }
    let (a, b) = (range(from)?, range(to)?);
    if from.is_float() && to.is_integer() {
        return Some(false);
    }
    if to.is_float() && to.bits()? < 16 {
        return None;
    }
    Some(a.digits <= b.digits && a.low >= b.low && a.high <= b.high && (b.signed || !a.signed))
}

fn range(elem: ElemType) -> Option<Range> {
    use ElemType::*;
    let float = |digits, low, high| Some(Range { digits, low, high, signed: true });
    match elem {
        Bool => Some(Range { digits: 1, low: 0, high: 0, signed: false }),
        // The lowest exponent is that of the smallest subnormal number.
        Double => float(53, -1074, 1023),
        Float => float(24, -149, 127),
        Bfloat16 => float(8, -133, 127),
        Float16 => float(11, -24, 15),
        Float8e4m3fn => float(4, -9, 8),
        Float8e4m3fnuz => float(4, -10, 7),
        Float8e5m2 => float(3, -16, 15),
        Float8e5m2fnuz => float(3, -17, 15),
        Float8e8m0 => Some(Range { digits: 1, low: -127, high: 127, signed: false }),
        Float6e2m3 => float(4, -3, 2),
        Float6e3m2 => float(3, -4, 4),
        Float4e2m1 => float(2, -1, 2),
        String | Complex64 | Complex128 => None,
        integer => {
            let signed = integer.is_signed_integer();
            let digits = u32::try_from(integer.bits()?).ok()? - u32::from(signed);
            // The minimum of a signed type, such as -128, has a larger exponent than its maximum.
            let high = i32::try_from(digits).ok()? - i32::from(!signed);
            Some(Range { digits, low: 0, high, signed })
        }
    }
}
