//! One step of a recurrent layer, for one sample and one direction.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::{sigmoid, softplus};
use crate::infer::eval::{Refusal, Result, bad};

/// Gate activation with its parameters.
#[derive(Clone, Copy)]
pub(super) struct Activation {
    function: fn(f64, f64, f64) -> f64,
    alpha: f64,
    beta: f64,
}

impl Activation {
    fn at(self, x: f64) -> f64 {
        (self.function)(x, self.alpha, self.beta)
    }
}

/// Function of a named activation, with the defaults of alpha and beta; `None` for an unused parameter.
type Named = (fn(f64, f64, f64) -> f64, Option<f64>, Option<f64>);

fn named(name: &str) -> Option<Named> {
    Some(match name.to_ascii_lowercase().as_str() {
        "relu" => (|x, _, _| x.max(0.0), None, None),
        "tanh" => (|x, _, _| x.tanh(), None, None),
        "sigmoid" => (|x, _, _| sigmoid(x), None, None),
        "softsign" => (|x, _, _| x / (1.0 + x.abs()), None, None),
        "softplus" => (|x, _, _| softplus(x), None, None),
        "affine" => (|x, a, b| a * x + b, Some(1.0), Some(0.0)),
        "leakyrelu" => (|x, a, _| if x < 0.0 { a * x } else { x }, Some(0.01), None),
        "thresholdedrelu" => (|x, a, _| if x > a { x } else { 0.0 }, Some(1.0), None),
        "scaledtanh" => (|x, a, b| a * (b * x).tanh(), Some(1.0), Some(1.0)),
        "hardsigmoid" => (|x, a, b| (a * x + b).clamp(0.0, 1.0), Some(0.2), Some(0.5)),
        "elu" => (|x, a, _| if x < 0.0 { a * x.exp_m1() } else { x }, Some(1.0), None),
        _ => return None,
    })
}

/// Returns the activations of all directions.
/// Each activation with a parameter uses the next entry of `activation_alpha` or `activation_beta`.
pub(super) fn activations(cx: &Cx, directions: usize) -> Result<Vec<Activation>> {
    let defaults: &[&str] = match cx.call.op {
        "RNN" => &["Tanh"],
        "GRU" => &["Sigmoid", "Tanh"],
        "LSTM" => &["Sigmoid", "Tanh", "Tanh"],
        _ => return Err(Refusal::Unsupported),
    };
    let names = match cx.texts("activations").filter(|names| !names.is_empty()) {
        Some(names) => names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        None => defaults.repeat(directions).into_iter().map(str::to_owned).collect::<Vec<_>>(),
    };
    if names.len() != defaults.len() * directions {
        return bad("`activations` has the wrong number of entries");
    }
    let mut alphas = cx.floats("activation_alpha").unwrap_or_default().into_iter();
    let mut betas = cx.floats("activation_beta").unwrap_or_default().into_iter();
    let each = names.iter().map(|name| {
        let (function, alpha, beta) =
            named(name).ok_or(Refusal::BadInput("unknown value in `activations`"))?;
        let alpha = alpha.map_or(0.0, |default| alphas.next().unwrap_or(default));
        let beta = beta.map_or(0.0, |default| betas.next().unwrap_or(default));
        Ok(Activation { function, alpha, beta })
    });
    each.collect()
}

/// Weights of one direction; gates are rows, in the operator's order.
pub(super) struct Cell<'a> {
    pub(super) hidden: usize,
    /// Weights from the input to the gates, as `gates · hidden × input`.
    pub(super) input: &'a [f64],
    /// Weights from the hidden state to the gates, as `gates · hidden × hidden`.
    pub(super) recurrent: &'a [f64],
    /// Bias of the input product, then of the hidden state product.
    pub(super) bias: &'a [f64],
    /// Weights from the cell state to the gates i, o and f.
    pub(super) peepholes: &'a [f64],
    pub(super) functions: &'a [Activation],
    pub(super) clip: Option<f64>,
    pub(super) linear_before_reset: bool,
    pub(super) coupled: bool,
}

/// Multiplies one gate row by a vector.
fn product(weights: &[f64], x: &[f64], gate: usize, row: usize, hidden: usize) -> f64 {
    let start = (gate * hidden + row) * x.len();
    weights[start..start + x.len()].iter().zip(x).map(|(w, x)| w * x).sum()
}

impl Cell<'_> {
    fn input_part(&self, x: &[f64], gate: usize, row: usize) -> f64 {
        product(self.input, x, gate, row, self.hidden) + self.bias[gate * self.hidden + row]
    }

    fn state_part(&self, h: &[f64], gate: usize, row: usize) -> f64 {
        let bias = self.bias[self.bias.len() / 2 + gate * self.hidden + row];
        product(self.recurrent, h, gate, row, self.hidden) + bias
    }

    fn activate(&self, function: usize, x: f64) -> f64 {
        let clipped = self.clip.map_or(x, |clip| x.max(-clip).min(clip));
        self.functions[function].at(clipped)
    }

    fn gate(&self, x: &[f64], h: &[f64], gate: usize, row: usize) -> f64 {
        self.input_part(x, gate, row) + self.state_part(h, gate, row)
    }

    /// Runs an RNN step: h = f(W·x + R·h).
    pub(super) fn simple(&self, x: &[f64], h: &mut [f64]) {
        let next: Vec<f64> = (0..self.hidden).map(|row| self.activate(0, self.gate(x, h, 0, row))).collect();
        h.copy_from_slice(&next);
    }

    /// Runs a GRU step, with the gates z (update), r (reset) and h.
    pub(super) fn gated(&self, x: &[f64], h: &mut [f64]) {
        let reset: Vec<f64> = (0..self.hidden).map(|row| self.activate(0, self.gate(x, h, 1, row))).collect();
        let kept: Vec<f64> = h.iter().zip(&reset).map(|(h, r)| h * r).collect();
        let next = (0..self.hidden).map(|row| {
            let update = self.activate(0, self.gate(x, h, 0, row));
            let remembered = match self.linear_before_reset {
                true => reset[row] * self.state_part(h, 2, row),
                false => self.state_part(&kept, 2, row),
            };
            let new = self.activate(1, self.input_part(x, 2, row) + remembered);
            (1.0 - update) * new + update * h[row]
        });
        let next: Vec<f64> = next.collect();
        h.copy_from_slice(&next);
    }

    /// Runs an LSTM step, with the gates i (input), o (output), f (forget) and c (cell).
    pub(super) fn long_short(&self, x: &[f64], h: &mut [f64], c: &mut [f64]) {
        let mut next = Vec::with_capacity(self.hidden);
        for (row, cell) in c.iter_mut().enumerate() {
            let peek = |gate: usize, cell: f64| self.peepholes[gate * self.hidden + row] * cell;
            let input = self.activate(0, self.gate(x, h, 0, row) + peek(0, *cell));
            let forget = match self.coupled {
                true => 1.0 - input,
                false => self.activate(0, self.gate(x, h, 2, row) + peek(2, *cell)),
            };
            let new = self.activate(1, self.gate(x, h, 3, row));
            *cell = forget * *cell + input * new;
            let output = self.activate(0, self.gate(x, h, 1, row) + peek(1, *cell));
            // Only gate inputs are clipped, not the cell state.
            next.push(output * self.functions[2].at(*cell));
        }
        h.copy_from_slice(&next);
    }
}
