//! Shape rules of `ai.onnx.preview.training`: optimizer steps and gradients.

use super::Cx;
use crate::infer::fact::Fact;

/// Number of scalar inputs before the tensors: learning rate and step count.
const SCALARS: usize = 2;

/// `Adagrad` and `Momentum`: update parameters, and one state for each parameter.
///
/// After the scalars, the inputs are all parameters, all gradients and all states. The outputs are the new
/// parameters and the new states.
pub fn with_one_state(cx: &mut Cx) -> Option<()> {
    updated(cx, &[0, 2])
}

/// `Adam`: like [`with_one_state`], with two states per parameter.
pub fn with_two_states(cx: &mut Cx) -> Option<()> {
    updated(cx, &[0, 2, 3])
}

/// Sets the types and shapes of each group of outputs to those of a group of inputs.
fn updated(cx: &mut Cx, groups: &[usize]) -> Option<()> {
    let size = cx.inputs().checked_sub(SCALARS)? / (groups.len() + 1);
    for (at, group) in groups.iter().enumerate() {
        for index in 0..size {
            like_input(cx, at * size + index, SCALARS + group * size + index);
        }
    }
    Some(())
}

/// `Gradient`: returns one gradient for each of the variables `xs`, the first inputs.
pub fn gradient(cx: &mut Cx) -> Option<()> {
    for output in 0..cx.outs.len() {
        like_input(cx, output, output);
    }
    Some(())
}

fn like_input(cx: &mut Cx, output: usize, input: usize) {
    if let Some(fact) = cx.fact(input) {
        cx.put(output, Fact::tensor(fact.elem(), fact.shape().cloned().unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check;

    #[test]
    fn updated_parameters_keep_their_types() {
        let text = "<ir_version: 8, opset_import: [\"\" : 15, \"ai.onnx.preview.training\" : 1]>
        g (float r, int64 t, float[n] a, double[2] b, float[n] ga, double[2] gb, float[n] ha, double[2] hb) => (x, y, z, w) {
            x, y, z, w = ai.onnx.preview.training.Adagrad(r, t, a, b, ga, gb, ha, hb)
        }";
        check(text, &["x: float[n]", "y: double[2]", "z: float[n]", "w: double[2]"]);
    }
}
