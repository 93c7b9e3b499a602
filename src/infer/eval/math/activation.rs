//! Activation functions.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::infer::eval::cx::Cx;
use crate::infer::eval::number::{Pair, map_numbers, map_reals};
use crate::infer::eval::shape::spread;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Returns 1 / (1 + e⁻ˣ).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns ln(1 + eˣ) without overflow.
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Computes `Relu` of floats or integers.
pub(super) fn relu(cx: &Cx) -> Result<Array> {
    map_numbers(cx.tensor(0)?, |x| if x < 0.0 { 0.0 } else { x }, |x| x.max(0))
}

/// Computes activation functions of a real number, including those with attributes.
pub(super) fn activation(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let alpha = |default| cx.float("alpha", default);
    match cx.call.op {
        "Sigmoid" => map_reals(x, sigmoid),
        "Softplus" => map_reals(x, softplus),
        "Softsign" => map_reals(x, |x| x / (1.0 + x.abs())),
        "Mish" => map_reals(x, |x| x * softplus(x).tanh()),
        "HardSwish" => map_reals(x, |x| x * hard_sigmoid(x, 1.0 / 6.0, 0.5)),
        "HardSigmoid" => {
            let (alpha, beta) = (alpha(0.2), cx.float("beta", 0.5));
            map_reals(x, |x| hard_sigmoid(x, alpha, beta))
        }
        "LeakyRelu" => leaky(x, alpha(0.01)),
        "ThresholdedRelu" => {
            let alpha = alpha(1.0);
            map_reals(x, |x| if x > alpha { x } else { 0.0 })
        }
        "Elu" => elu(x, alpha(1.0), 1.0, 1.0),
        // With `alpha` 0, the formula yields 0 · ∞ = NaN for positive x, although x is intended.
        "Celu" if alpha(1.0) == 0.0 => Err(Refusal::Unsupported),
        "Celu" => elu(x, alpha(1.0), alpha(1.0), 1.0),
        "Selu" => {
            // The defaults were rounded differently before opset 6.
            let (a, gamma) = if cx.version() < 6 { (1.6732, 1.0507) } else { (1.673_263_2, 1.050_701) };
            elu(x, alpha(a), 1.0, cx.float("gamma", gamma))
        }
        "Swish" => {
            let alpha = alpha(1.0);
            map_reals(x, |x| x * sigmoid(alpha * x))
        }
        "Gelu" => match cx.text("approximate", "none").as_str() {
            "none" => map_reals(x, |x| 0.5 * x * (1.0 + libm::erf(x * FRAC_1_SQRT_2))),
            "tanh" => {
                map_reals(x, |x| 0.5 * x * (1.0 + ((2.0 / PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh()))
            }
            _ => bad("unknown value of `approximate`"),
        },
        _ => Err(Refusal::Unsupported),
    }
}

fn hard_sigmoid(x: f64, alpha: f64, beta: f64) -> f64 {
    (alpha * x + beta).clamp(0.0, 1.0)
}

fn leaky(x: &Array, alpha: f64) -> Result<Array> {
    map_reals(x, |x| if x < 0.0 { alpha * x } else { x })
}

/// Computes γ·x for positive x, γ·α·(exp(x/scale) − 1) otherwise.
fn elu(x: &Array, alpha: f64, scale: f64, gamma: f64) -> Result<Array> {
    map_reals(x, |x| gamma * if x > 0.0 { x } else { alpha * (x / scale).exp_m1() })
}

/// Computes `PRelu`; the slopes broadcast to the data, not vice versa.
pub(super) fn prelu(cx: &Cx) -> Result<Array> {
    let (x, slope) = (cx.tensor(0)?, cx.tensor(1)?);
    // Before opset 7 per-channel slopes are given as a vector.
    if cx.version() < 7 && slope.rank() == 1 && slope.len() > 1 && x.rank() > 1 {
        let mut shape = vec![1; x.rank() - 1];
        shape[0] = slope.len();
        let slope = slope.reshaped(shape)?;
        let offsets = spread(slope.shape(), x.shape())?;
        let (values, slopes) = (x.f64s()?, slope.f64s()?);
        let scaled = values.iter().zip(offsets).map(|(&x, i)| if x < 0.0 { slopes[i] * x } else { x });
        return Array::from_f64s(x.elem(), x.shape().to_vec(), scaled.collect());
    }
    spread(slope.shape(), x.shape())?;
    Pair::of(cx)?.combine(|x, s| if x < 0.0 { s * x } else { x }, |x, s| if x < 0 { s * x } else { x })
}

/// Computes `Shrink` of floats or integers.
pub(super) fn shrink(cx: &Cx) -> Result<Array> {
    let (lambda, bias) = (cx.float("lambd", 0.5), cx.float("bias", 0.0));
    let shrink = |x: f64| match x {
        x if x < -lambda => x + bias,
        x if x > lambda => x - bias,
        _ => 0.0,
    };
    map_numbers(cx.tensor(0)?, shrink, |x| shrink(x as f64) as i128)
}

/// Computes `SwiGLU`: multiplies Swish of the first input by the second input, of equal shape.
pub(super) fn swiglu(cx: &Cx) -> Result<Array> {
    let alpha = cx.float("alpha", 1.0);
    if cx.tensor(0)?.shape() != cx.tensor(1)?.shape() {
        return bad("the shapes of the inputs differ");
    }
    Pair::of(cx)?.combine(|gate, x| gate * sigmoid(alpha * gate) * x, |gate, _| gate)
}
