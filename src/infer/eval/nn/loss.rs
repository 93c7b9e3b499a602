//! Loss functions.

use super::conv::MISFIT;
use super::softmax::{each_line, log_softmax_line};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{Split, index};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `NegativeLogLikelihoodLoss` of log probabilities: batch × classes × ….
pub(super) fn negative_log_likelihood(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    loss(cx, x, &x.f64s()?)
}

/// Computes `SoftmaxCrossEntropyLoss`: the loss and the log probabilities.
pub(super) fn softmax_cross_entropy(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    if x.rank() < 2 {
        return Err(MISFIT);
    }
    let mut data = x.f64s()?;
    each_line(&mut data, Split::at(x.shape(), 1)?, log_softmax_line);
    let loss = loss(cx, x, &data)?;
    Ok(vec![loss, Array::from_f64s(x.elem(), x.shape().to_vec(), data)?])
}

/// Returns the negative log likelihood of the targets, weighted by class.
/// Targets equal to `ignore_index` do not count. `logs` has the shape of `x`: batch × classes × ….
fn loss(cx: &Cx, x: &Array, logs: &[f64]) -> Result<Array> {
    let targets = cx.tensor(1)?;
    cx.work(&[x.len()])?;
    let [batch, classes, rest @ ..] = x.shape() else { return Err(MISFIT) };
    let mut shape = vec![*batch];
    shape.extend(rest);
    if targets.shape() != shape {
        return Err(MISFIT);
    }
    let class_weights = match cx.maybe(2)? {
        Some(weights) if weights.shape() == [*classes] => weights.f64s()?,
        Some(_) => return Err(MISFIT),
        None => vec![1.0; *classes],
    };
    let ignored = cx.int_attr("ignore_index");
    let (mut losses, mut weights) = (vec![], vec![]);
    let lines = Split::at(x.shape(), 1)?;
    for (start, target) in lines.lines().zip(targets.as_i64s()?) {
        let (loss, weight) = if Some(target) == ignored {
            (0.0, 0.0)
        } else {
            let class = index(target, *classes).filter(|_| target >= 0);
            let class = class.ok_or(Refusal::BadInput("a target is not a class index"))?;
            (-logs[start + class * lines.inner] * class_weights[class], class_weights[class])
        };
        losses.push(loss);
        weights.push(weight);
    }
    let sum: f64 = losses.iter().sum();
    match cx.text("reduction", "mean").as_str() {
        "none" => Array::from_f64s(x.elem(), shape, losses),
        "sum" => Array::from_f64s(x.elem(), vec![], vec![sum]),
        "mean" => Array::from_f64s(x.elem(), vec![], vec![sum / weights.iter().sum::<f64>()]),
        _ => bad("unknown value of `reduction`"),
    }
}
