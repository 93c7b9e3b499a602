//! Operators that are constant-folded on weights of any size.

use super::fact::{ConstValue, Fact};
use crate::graph::{Model, TensorData};

/// Operators of `ai.onnx` that are folded on weights, sorted by name.
///
/// Each of these operators takes time linear in the sizes of its inputs and output.
const ARITHMETIC: [&str; 18] = [
    "Add",
    "Cast",
    "Concat",
    "Div",
    "Expand",
    "Flatten",
    "Identity",
    "Mul",
    "Neg",
    "Pad",
    "Reciprocal",
    "Reshape",
    "Slice",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Transpose",
    "Unsqueeze",
];

/// Returns true if an operator is constant-folded on weights of any size.
pub fn is_weight_arithmetic(domain: &str, op: &str) -> bool {
    domain.is_empty() && ARITHMETIC.binary_search(&op).is_ok()
}

/// Returns true if a value is a constant whose elements are not in an external file.
pub fn is_at_hand(model: &Model, fact: &Fact) -> bool {
    match fact.as_tensor().map(|tensor| &tensor.value) {
        Some(ConstValue::Const(_) | ConstValue::Computed) => true,
        Some(ConstValue::Weight(id)) => !matches!(model.tensors[*id].data, TensorData::External(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn weight_operators_are_sorted_for_binary_search() {
        assert!(super::ARITHMETIC.is_sorted());
    }
}
