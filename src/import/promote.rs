//! Type promotion of the operands of comparisons.
//!
//! Most operators compute in the dtype of their result, which the program records, and rules cast to it.
//! Comparisons return booleans, so the dtype in which they compare follows only from PyTorch's promotion
//! rules.

use super::builder::Builder;
use crate::graph::{ElemType, ValueId};
use crate::torch::promotion::{self, category};

/// Operators that promote their operands to a dtype that is not the dtype of their result.
const COMPARING: [&str; 11] =
    ["eq", "ne", "lt", "le", "gt", "ge", "isclose", "isin", "greater", "less", "not_equal"];

/// Returns the inputs of a call, with casts for operands of a comparison that PyTorch would promote.
pub fn promoted(builder: &mut Builder, op: &str, mut inputs: Vec<Option<ValueId>>) -> Vec<Option<ValueId>> {
    let base = op.split('.').next().unwrap_or_default();
    let is_comparing = COMPARING.contains(&base) || ["greater_equal", "less_equal"].contains(&base);
    if !is_comparing {
        return inputs;
    }
    let Some(wanted) = common(builder, &inputs) else { return inputs };
    for input in inputs.iter_mut().flatten() {
        if builder.known(*input).0 != Some(wanted) {
            *input = builder.cast(*input, wanted);
        }
    }
    inputs
}

/// Returns the dtype to which PyTorch promotes the operands.
///
/// Tensors with axes take precedence over 0-d tensors, and 0-d tensors take precedence over numbers. An
/// operand is ignored unless its dtype has a higher category than all operands of higher precedence.
fn common(builder: &Builder, inputs: &[Option<ValueId>]) -> Option<ElemType> {
    let mut ranked: [Option<ElemType>; 3] = [None; 3];
    for &input in inputs.iter().flatten() {
        let (elem, rank) = builder.known(input);
        let is_number = builder.numbers.contains(&input);
        // A Python float has PyTorch's default dtype.
        let elem = if is_number && elem? == ElemType::Double { ElemType::Float } else { elem? };
        let slot = if is_number { 2 } else { usize::from(rank? == 0) };
        ranked[slot] = Some(ranked[slot].map_or(Some(elem), |other| promote(other, elem))?);
    }
    let [with_axes, without, numbers] = ranked;
    combine(combine(with_axes, without), numbers)
}

/// Combines the dtypes of two precedence levels.
/// Ignores `lower` unless its category is above that of `higher`: bool < integer < floating-point.
pub(super) fn combine(higher: Option<ElemType>, lower: Option<ElemType>) -> Option<ElemType> {
    let (Some(high), Some(low)) = (higher, lower) else { return higher.or(lower) };
    if category(high) >= category(low) { Some(high) } else { promote(high, low) }
}

/// Returns the promoted dtype of two dtypes; `None` if PyTorch does not promote the pair.
pub(super) fn promote(a: ElemType, b: ElemType) -> Option<ElemType> {
    const DTYPES: [ElemType; 10] = [
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
    (DTYPES.contains(&a) && DTYPES.contains(&b)).then(|| promotion::promoted(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElemType::*;

    #[test]
    fn dtypes_of_equal_precedence_promote_as_in_pytorch() {
        assert_eq!(promote(Uint8, Int8), Some(Int16));
        assert_eq!(promote(Float16, Bfloat16), Some(Float));
        assert_eq!(promote(Int64, Float16), Some(Float16));
        assert_eq!(promote(Bool, Uint8), Some(Uint8));
        assert_eq!(promote(Uint16, Int32), None);
    }

    #[test]
    fn lower_precedence_dtype_counts_only_if_its_kind_is_higher() {
        assert_eq!(combine(Some(Float16), Some(Double)), Some(Float16));
        assert_eq!(combine(Some(Int32), Some(Float)), Some(Float));
        assert_eq!(combine(Some(Bool), Some(Int64)), Some(Int64));
        assert_eq!(combine(None, Some(Int64)), Some(Int64));
    }
}
