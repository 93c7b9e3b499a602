//! The domain ai.onnx.preview.training: one step of an optimiser.

use super::Cx;
use crate::infer::fact::Fact;

/// Learning rate and step count come before the tensors.
const SCALARS: usize = 2;

/// `Adagrad` and `Momentum`: all parameters, all gradients, all of one state; out come the new parameters
/// and states.
pub fn with_one_state(cx: &mut Cx) -> Option<()> {
    updated(cx, &[0, 2])
}

/// `Adam`: as above, with two states.
pub fn with_two_states(cx: &mut Cx) -> Option<()> {
    updated(cx, &[0, 2, 3])
}

/// Each group of outputs has the types of a group of inputs; the gradients are the second group of those.
fn updated(cx: &mut Cx, groups: &[usize]) -> Option<()> {
    let size = cx.inputs().checked_sub(SCALARS)? / (groups.len() + 1);
    for (at, group) in groups.iter().enumerate() {
        for index in 0..size {
            like_input(cx, at * size + index, SCALARS + group * size + index);
        }
    }
    Some(())
}

/// `Gradient`: one for each of the variables `xs`, which come first.
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
    fn new_parameters_are_as_the_old() {
        let text = "<ir_version: 8, opset_import: [\"\" : 15, \"ai.onnx.preview.training\" : 1]>
        g (float r, int64 t, float[n] a, double[2] b, float[n] ga, double[2] gb, float[n] ha, double[2] hb) => (x, y, z, w) {
            x, y, z, w = ai.onnx.preview.training.Adagrad(r, t, a, b, ga, gb, ha, hb)
        }";
        check(text, &["x: float[n]", "y: double[2]", "z: float[n]", "w: double[2]"]);
    }
}
