//! Optimizer steps.
//!
//! Inputs are the learning rate, the step count, then all tensors, all gradients and each kind of state.

use super::conv::MISFIT;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Result, bad};

/// Runs `step` on every element.
/// `step` maps a value, its gradient and its states to the new value and states.
fn each<const N: usize>(cx: &Cx, step: impl Fn(f64, f64, [f64; N]) -> (f64, [f64; N])) -> Result<Vec<Array>> {
    let tensors = cx.count().saturating_sub(2);
    if !tensors.is_multiple_of(N + 2) {
        return bad("the number of inputs does not match the number of tensors");
    }
    let count = tensors / (N + 2);
    let mut outputs = Vec::new();
    let mut states: Vec<Vec<Array>> = vec![vec![]; N];
    for i in 0..count {
        let input = |kind: usize| cx.tensor(2 + kind * count + i);
        let (x, gradient) = (input(0)?, input(1)?);
        let shape = x.shape();
        cx.room(shape)?;
        if (1..N + 2).any(|kind| input(kind).map(Array::shape) != Ok(shape)) {
            return Err(MISFIT);
        }
        let (mut values, gradient) = (x.f64s()?, gradient.f64s()?);
        let mut state = (0..N).map(|kind| input(2 + kind)?.f64s()).collect::<Result<Vec<_>>>()?;
        for (at, value) in values.iter_mut().enumerate() {
            let (new, next) = step(*value, gradient[at], std::array::from_fn(|kind| state[kind][at]));
            *value = new;
            next.iter().enumerate().for_each(|(kind, &next)| state[kind][at] = next);
        }
        outputs.push(Array::from_f64s(x.elem(), shape.to_vec(), values)?);
        for (kind, state) in state.into_iter().enumerate() {
            states[kind].push(Array::from_f64s(input(2 + kind)?.elem(), shape.to_vec(), state)?);
        }
    }
    outputs.extend(states.into_iter().flatten());
    Ok(outputs)
}

/// Returns the first two inputs: the learning rate before any decay, and the step count.
fn rate_and_steps(cx: &Cx) -> Result<(f64, f64)> {
    match (cx.scalar(0)?, cx.scalar(1)?) {
        (Some(rate), Some(steps)) => Ok((rate, steps)),
        _ => bad("a required input is absent"),
    }
}

/// Computes `Adagrad`: the new tensors, then the sums of squared gradients.
pub(super) fn adagrad(cx: &Cx) -> Result<Vec<Array>> {
    let (rate, steps) = rate_and_steps(cx)?;
    let rate = rate / (1.0 + steps * cx.float("decay_factor", 0.0));
    let (norm, epsilon) = (cx.float("norm_coefficient", 0.0), cx.float("epsilon", 1e-6));
    each(cx, |x, gradient, [squares]| {
        let gradient = norm * x + gradient;
        let squares = squares + gradient * gradient;
        (x - rate * gradient / (squares.sqrt() + epsilon), [squares])
    })
}

/// Computes `Adam`: the new tensors, then the averages of gradients and of their squares.
pub(super) fn adam(cx: &Cx) -> Result<Vec<Array>> {
    let (rate, steps) = rate_and_steps(cx)?;
    let (alpha, beta) = (cx.float("alpha", 0.9), cx.float("beta", 0.999));
    let (norm, epsilon) = (cx.float("norm_coefficient", 0.0), cx.float("epsilon", 1e-6));
    let kept = 1.0 - cx.float("norm_coefficient_post", 0.0);
    let rate = match steps > 0.0 {
        true => rate * (1.0 - beta.powf(steps)).sqrt() / (1.0 - alpha.powf(steps)),
        false => rate,
    };
    each(cx, |x, gradient, [mean, squares]| {
        let gradient = norm * x + gradient;
        let mean = alpha * mean + (1.0 - alpha) * gradient;
        let squares = beta * squares + (1.0 - beta) * gradient * gradient;
        (kept * (x - rate * mean / (squares.sqrt() + epsilon)), [mean, squares])
    })
}

/// Computes `Momentum`, standard or Nesterov: the new tensors, then the momenta.
pub(super) fn momentum(cx: &Cx) -> Result<Vec<Array>> {
    let (rate, steps) = rate_and_steps(cx)?;
    let (alpha, norm) = (cx.float("alpha", 0.0), cx.float("norm_coefficient", 0.0));
    let beta = if steps > 0.0 { cx.float("beta", 0.0) } else { 1.0 };
    let nesterov = match cx.text("mode", "").as_str() {
        "standard" => false,
        "nesterov" => true,
        _ => return bad("unknown value of `mode`"),
    };
    each(cx, |x, gradient, [momentum]| {
        let gradient = norm * x + gradient;
        let momentum = alpha * momentum + beta * gradient;
        let step = if nesterov { gradient + alpha * momentum } else { momentum };
        (x - rate * step, [momentum])
    })
}
