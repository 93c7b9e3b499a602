//! Conversion of exactly computed integers to the range of their element type.

use super::EXACT_IN_FLOAT;
use crate::graph::ElemType;
use crate::graph::dim::{Bounds, Dim, Interval};
use crate::infer::eval::int_range;
use crate::infer::shape::Size;

/// Maximum axis size that is assumed if a model computes sizes in 32 bits, as some exporters do.
///
/// A 32-bit expression that could overflow even with axes of this size is unknown.
const LONGEST_AXIS: i64 = 1 << 15;

/// Limit up to which `double` represents every whole number exactly.
const EXACT_IN_DOUBLE: i64 = 1 << 53;

/// Converts a size to an element of type `elem`.
///
/// A number wraps in an integer type. In a float type, a number is unknown if it exceeds the range in which
/// `float`, or `double` for other float types, represents every whole number.
pub(super) fn held(size: Size, elem: ElemType, bounds: &Bounds) -> Size {
    let dim = size?;
    let Some(number) = dim.as_const() else { return Some(dim).filter(|dim| always_fits(dim, elem, bounds)) };
    match elem {
        ElemType::Bool => Some(dim),
        ElemType::Float => Some(dim).filter(|_| number.unsigned_abs() <= EXACT_IN_FLOAT as u64),
        _ if elem.is_float() => Some(dim).filter(|_| number.unsigned_abs() <= EXACT_IN_DOUBLE as u64),
        _ => wrapped(number, elem),
    }
}

/// Wraps a number to the range of an integer type, or returns `None` if the result overflows `i64`.
fn wrapped(number: i64, elem: ElemType) -> Size {
    let (low, high) = int_range(elem);
    let wrapped = (i128::from(number) - low).rem_euclid(high - low + 1) + low;
    i64::try_from(wrapped).ok().map(Dim::known)
}

/// Returns true if an element type holds every value of an expression over sizes.
///
/// `int64`, `bool` and float types are assumed to hold every value of any expression over sizes, and `uint64`
/// every value of an expression that is never negative.
fn always_fits(dim: &Dim, elem: ElemType, bounds: &Bounds) -> bool {
    let within = |bounds: &Bounds| {
        let range = dim.range(bounds);
        let (low, high) = int_range(elem);
        let is_low = range.lo.is_some_and(|lo| i128::from(lo) >= low);
        is_low && range.hi.is_some_and(|hi| i128::from(hi) <= high)
    };
    match elem {
        ElemType::Int64 | ElemType::Bool => true,
        _ if elem.is_float() => true,
        ElemType::Uint64 => dim.at_least(&Dim::known(0), bounds).is_always(),
        ElemType::Int32 | ElemType::Uint32 => {
            let mut likely = Bounds::default();
            let longest = Interval { lo: None, hi: Some(LONGEST_AXIS) };
            dim.symbols()
                .all(|symbol| likely.restrict(symbol, bounds.of(symbol)) && likely.restrict(symbol, longest))
                && within(&likely)
        }
        _ => within(bounds),
    }
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check;

    #[test]
    fn numbers_wrap_and_symbols_that_may_overflow_are_unknown() {
        let of_size = |nodes: &str, expected: &str| {
            let text = format!("g (float[n] x) => (y) {{ s = Shape (x) {nodes} y = Expand (x, e) }}");
            check(&text, &[&format!("y: float{expected}")]);
        };
        of_size("i = Cast <to = 6> (s) e = Cast <to = 7> (i)", "[n]");
        of_size("i = Cast <to = 3> (s) e = Cast <to = 7> (i)", "[y_dim_0]");
        of_size(
            "i = Cast <to = 6> (s) k = Constant <value = int32[1] {100000}> () m = Mul (i, k)
             e = Cast <to = 7> (m)",
            "[y_dim_0]",
        );
        of_size(
            "k = Constant <value = int64[1] {257}> () b = Cast <to = 2> (k) e = Cast <to = 7> (b)",
            "[n]",
        );
    }
}
