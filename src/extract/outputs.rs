//! Optional outputs that can be removed from a node.

use crate::egraph::OpKey;

/// Operators of ai.onnx whose unused optional outputs can be omitted.
const LOSES_OUTPUTS: [&str; 8] =
    ["Dropout", "GRU", "LSTM", "LayerNormalization", "MaxPool", "RNN", "SoftmaxCrossEntropyLoss", "Unique"];

/// Inputs of `Attention` for past keys and values.
const PASTS: [usize; 2] = [4, 5];

/// Returns true if a call keeps its meaning without unused optional outputs.
///
/// `is_given` returns true for the inputs that are present. Returns false for operators other than
/// `Attention` and `LOSES_OUTPUTS`. `BatchNormalization` is excluded: its optional outputs select training
/// mode or, in newer versions, are required in training mode. An `Attention` with past keys or values must
/// return the present ones.
pub fn may_lose_outputs(key: &OpKey, is_given: &dyn Fn(usize) -> bool) -> bool {
    match &*key.name {
        _ if !key.domain.is_empty() => false,
        "Attention" => !PASTS.iter().any(|&past| is_given(past)),
        name => LOSES_OUTPUTS.contains(&name),
    }
}
