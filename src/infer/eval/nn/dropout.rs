//! Dropout in cases where it is the identity.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Refusal, Result};

/// Computes `Dropout`; fails in training unless the ratio is zero.
pub(super) fn dropout(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let training = match cx.version() {
        12.. => cx.maybe(2)?.map(|mode| Ok(mode.as_bools()?.contains(&true))).transpose()?.unwrap_or(false),
        7.. => false,
        _ => !cx.flag("is_test", false)?,
    };
    let ratio = match cx.scalar(1)? {
        Some(ratio) => ratio,
        None => cx.float("ratio", 0.5),
    };
    if training && ratio != 0.0 {
        return Err(Refusal::NotDeterministic);
    }
    let shape = x.shape().to_vec();
    let mask_type = if cx.version() < 10 { x.elem() } else { ElemType::Bool };
    // Since opset 12, the mask is true for kept elements. Before opset 12, the specification does not define
    // the mask; ONNX Runtime returns zeros.
    let kept = i128::from(cx.version() >= 12);
    let mask = Array::from_ints(mask_type, shape, vec![kept; x.len()])?;
    Ok(vec![x.clone(), mask])
}
