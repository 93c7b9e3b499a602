//! The element type in which PyTorch compares tensors of different types.
//!
//! What computes has the type of its result, which the program records, and rules cast to it. A comparison gives truth
//! values: in which type it compares is only known from PyTorch's rules of promotion.

use crate::graph::{AttrValue, Attribute, ElemType, ValueId};

use super::graph::Builder;

/// Operators that bring their first operands to one type and say nothing of it in their result.
const COMPARING: [&str; 11] =
    ["eq", "ne", "lt", "le", "gt", "ge", "isclose", "isin", "greater", "less", "not_equal"];

/// The inputs of a call, with casts of those that a comparison takes as of another type.
pub fn promoted(builder: &mut Builder, op: &str, mut inputs: Vec<Option<ValueId>>) -> Vec<Option<ValueId>> {
    let base = op.split('.').next().unwrap_or_default();
    let is_comparing = COMPARING.contains(&base) || ["greater_equal", "less_equal"].contains(&base);
    if !is_comparing {
        return inputs;
    }
    let Some(wanted) = common(builder, &inputs) else { return inputs };
    for input in inputs.iter_mut().flatten() {
        if builder.known(*input).0 != Some(wanted) {
            let to = Attribute::new("to", AttrValue::Int(i64::from(wanted.number())));
            *input = builder.onnx("Cast", vec![Some(*input)], vec![to]);
        }
    }
    inputs
}

/// The type that PyTorch brings some operands to. Tensors with axes go before those without, and those before numbers:
/// what comes later counts only where it is of a higher kind.
fn common(builder: &Builder, inputs: &[Option<ValueId>]) -> Option<ElemType> {
    let mut ranked: [Option<ElemType>; 3] = [None; 3];
    for &input in inputs.iter().flatten() {
        let (elem, rank) = builder.known(input);
        let is_number = builder.numbers.contains(&input);
        // A number that is a float is of PyTorch's default type.
        let elem = if is_number && elem? == ElemType::Double { ElemType::Float } else { elem? };
        let slot = if is_number { 2 } else { usize::from(rank? == 0) };
        ranked[slot] = Some(ranked[slot].map_or(Some(elem), |other| promote(other, elem))?);
    }
    let [with_axes, without, numbers] = ranked;
    combine(combine(with_axes, without), numbers)
}

fn combine(higher: Option<ElemType>, lower: Option<ElemType>) -> Option<ElemType> {
    let (Some(high), Some(low)) = (higher, lower) else { return higher.or(lower) };
    match kind(high) {
        kind_of_high if kind_of_high >= kind(low) => Some(high),
        _ => promote(high, low),
    }
}

/// Truth values, integers, floats, complex numbers.
fn kind(elem: ElemType) -> u8 {
    match elem {
        ElemType::Bool => 0,
        ElemType::Complex64 | ElemType::Complex128 => 3,
        elem if elem.is_float() => 2,
        _ => 1,
    }
}

/// The smallest type that takes the values of both, as PyTorch sees it; `None` for types that it does not bring together.
fn promote(a: ElemType, b: ElemType) -> Option<ElemType> {
    const ORDER: [ElemType; 10] = [
        ElemType::Bool,
        ElemType::Uint8,
        ElemType::Int8,
        ElemType::Int16,
        ElemType::Int32,
        ElemType::Int64,
        ElemType::Float16,
        ElemType::Bfloat16,
        ElemType::Float,
        ElemType::Double,
    ];
    let place = |elem: ElemType| ORDER.iter().position(|&other| other == elem);
    let (low, high) = (place(a)?.min(place(b)?), place(a)?.max(place(b)?));
    Some(match (ORDER[low], ORDER[high]) {
        (ElemType::Uint8, ElemType::Int8) => ElemType::Int16,
        (ElemType::Float16, ElemType::Bfloat16) => ElemType::Float,
        (_, high) => high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElemType::*;

    #[test]
    fn types_of_one_kind() {
        assert_eq!(promote(Uint8, Int8), Some(Int16));
        assert_eq!(promote(Float16, Bfloat16), Some(Float));
        assert_eq!(promote(Int64, Float16), Some(Float16));
        assert_eq!(promote(Bool, Uint8), Some(Uint8));
        assert_eq!(promote(Uint16, Int32), None);
    }

    #[test]
    fn a_higher_kind_wins() {
        assert_eq!(combine(Some(Float16), Some(Double)), Some(Float16));
        assert_eq!(combine(Some(Int32), Some(Float)), Some(Float));
        assert_eq!(combine(Some(Bool), Some(Int64)), Some(Int64));
        assert_eq!(combine(None, Some(Int64)), Some(Int64));
    }
}
