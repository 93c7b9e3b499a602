//! Type promotion, as in PyTorch.

use crate::graph::ElemType;

/// Returns the category of a type in PyTorch's type promotion: bool, integers, floats, complex.
pub fn category(elem: ElemType) -> u8 {
    match elem {
        ElemType::String | ElemType::Bool => 0,
        elem if elem.is_integer() => 1,
        elem if elem.is_complex() => 3,
        _ => 2,
    }
}

/// Returns the promoted type of two tensors, as `torch.promote_types` does.
///
/// Returns float for float16 and bfloat16. For a signed and an unsigned integer, returns the narrowest
/// signed type that represents both, or int64; PyTorch itself promotes no signed type with an unsigned type
/// wider than uint8.
pub fn promoted(x: ElemType, y: ElemType) -> ElemType {
    let width = |elem: ElemType| elem.bits().unwrap_or(0);
    let is_mixed_half =
        matches!((x, y), (ElemType::Float16, ElemType::Bfloat16) | (ElemType::Bfloat16, ElemType::Float16));
    match (category(x), category(y)) {
        _ if is_mixed_half => ElemType::Float,
        _ if matches!(
            (x, y),
            (ElemType::Double, ElemType::Complex64) | (ElemType::Complex64, ElemType::Double)
        ) =>
        {
            ElemType::Complex128
        }
        (a, b) if a != b => {
            if a > b {
                x
            } else {
                y
            }
        }
        (1, 1) if x.is_signed_integer() != y.is_signed_integer() => {
            let (signed, unsigned) = if x.is_signed_integer() { (x, y) } else { (y, x) };
            match width(unsigned).max(width(signed) / 2) {
                _ if width(signed) > width(unsigned) => signed,
                0..=8 => ElemType::Int16,
                9..=16 => ElemType::Int32,
                _ => ElemType::Int64,
            }
        }
        _ if width(x) >= width(y) => x,
        _ => y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElemType::*;

    #[test]
    fn promotion_matches_pytorch() {
        let check = |x, y, expected| {
            assert_eq!((promoted(x, y), promoted(y, x)), (expected, expected), "{x} {y}");
        };
        check(Float16, Float, Float);
        check(Float16, Bfloat16, Float);
        check(Int64, Float16, Float16);
        check(Bool, Int8, Int8);
        check(Uint8, Int8, Int16);
        check(Uint8, Int32, Int32);
        check(Float, Double, Double);
        check(Double, Complex64, Complex128);
        check(Int64, Complex64, Complex64);
    }
}
