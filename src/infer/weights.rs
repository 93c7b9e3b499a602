//! Weights that are computed of other weights, once and for all, rather than in each run.

use super::fact::{ConstValue, Fact};
use crate::graph::{Model, TensorData};

/// The operators of ai.onnx by which weights are folded into others: each makes a tensor about as large as what it
/// takes, in a time that follows its size.
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

/// Whether weights of any size are computed by this operator.
pub fn is_weight_arithmetic(domain: &str, op: &str) -> bool {
    domain.is_empty() && ARITHMETIC.binary_search(&op).is_ok()
}

/// Whether a value is a constant whose elements are at hand: they are not, in another file.
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
    fn operators_are_sorted() {
        assert!(super::ARITHMETIC.is_sorted());
    }
}
