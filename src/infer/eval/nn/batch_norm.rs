//! Batch normalization.

use super::conv::MISFIT;
use super::norm::moments;
use super::window::image;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::numel;
use crate::infer::eval::{Array, Refusal, Result};

/// Computes `BatchNormalization`; in training (since opset 14) also returns the running statistics.
/// Fails for training before opset 14 and for per-activation statistics (`spatial = 0`).
pub(super) fn batch_norm(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let (batch, channels, spatial) = image(x.shape())?;
    let plane = numel(spatial)?;
    let trains = match cx.version() {
        14.. => cx.flag("training_mode", false)?,
        7.. if cx.call.outputs > 1 => return Err(Refusal::Unsupported),
        7.. => false,
        _ if cx.flag("is_test", false)? => false,
        _ => return Err(Refusal::Unsupported),
    };
    if !cx.flag("spatial", true)? {
        return Err(Refusal::Unsupported);
    }
    let vector = |i| match cx.tensor(i)? {
        vector if vector.len() == channels => vector.f64s(),
        _ => Err(MISFIT),
    };
    let (scale, bias, given_mean, given_variance) = (vector(1)?, vector(2)?, vector(3)?, vector(4)?);
    let (epsilon, momentum) = (cx.float("epsilon", 1e-5), cx.float("momentum", 0.9));
    let mut data = x.f64s()?;
    let (mut running_mean, mut running_variance) = (vec![], vec![]);
    for c in 0..channels {
        let members = (0..batch).flat_map(|n| {
            let start = (n * channels + c) * plane;
            start..start + plane
        });
        let (mut mean, mut variance) = (given_mean[c], given_variance[c]);
        if trains {
            (mean, variance) = moments(members.clone().map(|i| data[i]), batch * plane);
            running_mean.push(given_mean[c] * momentum + mean * (1.0 - momentum));
            running_variance.push(given_variance[c] * momentum + variance * (1.0 - momentum));
        }
        let factor = scale[c] / (variance + epsilon).sqrt();
        members.for_each(|i| data[i] = (data[i] - mean) * factor + bias[c]);
    }
    let mut outputs = vec![Array::from_f64s(x.elem(), x.shape().to_vec(), data)?];
    if trains {
        let elem = cx.tensor(3)?.elem();
        outputs.push(Array::from_f64s(elem, vec![channels], running_mean)?);
        outputs.push(Array::from_f64s(elem, vec![channels], running_variance)?);
    }
    Ok(outputs)
}
