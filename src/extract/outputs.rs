//! Which outputs a node may do without.

use crate::egraph::OpKey;

/// Operators of ai.onnx whose optional outputs may be left out where nobody takes them.
const LOSES_OUTPUTS: [&str; 8] =
    ["Dropout", "GRU", "LSTM", "LayerNormalization", "MaxPool", "RNN", "SoftmaxCrossEntropyLoss", "Unique"];

/// The inputs of `Attention` with the keys and values of the past.
const PASTS: [usize; 2] = [4, 5];

/// Whether a call means the same without the optional outputs that nobody takes; `is_given` tells which inputs it
/// has. A BatchNormalization trains or not by its outputs, or wants all of them where it trains; an Attention with a
/// past makes a present. What others do is not known.
pub fn may_lose_outputs(key: &OpKey, is_given: &dyn Fn(usize) -> bool) -> bool {
    match &*key.name {
        _ if !key.domain.is_empty() => false,
        "Attention" => !PASTS.iter().any(|&past| is_given(past)),
        name => LOSES_OUTPUTS.contains(&name),
    }
}
