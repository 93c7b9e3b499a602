//! Shape rules of normalizations and recurrent layers.

use super::Cx;
use super::elementwise::same;
use crate::infer::call::is_of_runtime;
use crate::infer::shape::{Shape, known};

/// `BatchNormalization`: also returns statistics per channel.
pub fn batch_norm(cx: &mut Cx) -> Option<()> {
    let channels = Shape::new(vec![cx.dim(0, 1)]);
    same(cx)?;
    for output in 1..cx.outs.len() {
        cx.set_shape(output, channels.clone());
    }
    Some(())
}

/// `LayerNormalization`: also returns statistics, with size 1 for all axes from `axis` on.
pub fn layer_norm(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(0);
    cx.set_shape(0, shape);
    if is_of_runtime(cx.call()) {
        cx.set_elem(0, cx.elem(1));
    }
    let statistics = cx.elem_attr("stash_type");
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(-1, dims.len())?;
    dims[axis..].fill(known(1));
    for output in 1..cx.outs.len() {
        cx.set_dims(output, dims.clone());
        if statistics.is_some() {
            cx.set_elem(output, statistics);
        }
    }
    Some(())
}

/// Sets the shape of the first output to that of the input; other outputs stay unknown.
pub fn first_same(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(0);
    cx.set_shape(0, shape);
    Some(())
}

/// `RNN`, `GRU` and `LSTM`: return all hidden states and the last one; `LSTM` also the last cell state.
pub fn recurrent(cx: &mut Cx) -> Option<()> {
    cx.allow_rank(0, 3)?;
    let batch_first = cx.flag("layout");
    let (batch, steps) =
        if batch_first { (cx.dim(0, 0), cx.dim(0, 1)) } else { (cx.dim(0, 1), cx.dim(0, 0)) };
    let directions = known(if cx.text("direction") == Some("bidirectional") { 2 } else { 1 });
    let hidden = cx.int("hidden_size").and_then(known).or_else(|| cx.dim(2, 2));
    let all = match batch_first {
        true => vec![batch.clone(), steps, directions.clone(), hidden.clone()],
        false => vec![steps, directions.clone(), batch.clone(), hidden.clone()],
    };
    let last = match batch_first {
        true => vec![batch, directions, hidden],
        false => vec![directions, batch, hidden],
    };
    cx.set_dims(0, all);
    cx.set_dims(1, last.clone());
    cx.set_dims(2, last);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call};

    #[test]
    fn layer_normalization_of_onnx_runtime_has_the_type_of_its_scale() {
        let text = "<ir_version: 8, opset_import: [\"\" : 16]> g (float[n, 4] x, float16[4] w) => (y) {
            y = LayerNormalization(x, w)
        }";
        crate::infer::testing::check(text, &["y: float16[n, 4]"]);
    }

    #[test]
    fn normalizations_return_statistics() {
        check_call(
            "float16[n, s, 8] x, float16[8] w",
            "LayerNormalization(x, w)",
            "float16[n, s, 8]; float[n, s, 1]; float[n, s, 1]",
        );
        let text = "g (float[n, 3, h] x, float[3] s) => (y, mean, var) {
            y, mean, var = BatchNormalization <training_mode = 1> (x, s, s, s, s)
        }";
        check(text, &["y: float[n, 3, h]", "mean: float[3]", "var: float[3]"]);
    }

    #[test]
    fn recurrent_layers_support_directions_and_layout() {
        let inputs = "float[t, b, 8] x, float[2, 20, 8] w, float[2, 20, 5] r";
        check_call(
            inputs,
            "LSTM <direction = \"bidirectional\", hidden_size = 5> (x, w, r)",
            "float[t, 2, b, 5]; float[2, b, 5]; float[2, b, 5]",
        );
        check_call(
            "float[b, t, 8] x, float[1, 15, 8] w, float[1, 15, 5] r",
            "GRU <layout = 1> (x, w, r)",
            "float[b, t, 1, 5]; float[b, 1, 5]",
        );
    }
}
