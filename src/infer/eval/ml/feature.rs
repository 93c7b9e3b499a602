//! Feature preparation and linear regression.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::join;
use crate::infer::eval::shape::{index, numel, to_size};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `ArrayFeatureExtractor`, which selects along the last axis.
/// A vector counts as a matrix of one row.
pub(super) fn extract(cx: &Cx) -> Result<Array> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?.as_i64s()?);
    let Some((&width, lead)) = x.shape().split_last() else { return bad("the input must not be a scalar") };
    let rows = numel(lead)?;
    let out = Refusal::BadInput("an index is out of range");
    let columns = indices.iter().map(|&i| index(i, width).ok_or(out.clone())).collect::<Result<Vec<_>>>()?;
    let mut shape = if lead.is_empty() { vec![1] } else { lead.to_vec() };
    shape.push(columns.len());
    cx.room(&shape)?;
    let offsets: Vec<usize> =
        (0..rows).flat_map(|row| columns.iter().map(move |column| row * width + column)).collect();
    x.take(shape, &offsets)
}

/// Computes `Binarizer`: 1 above the threshold, otherwise 0.
pub(super) fn binarize(cx: &Cx) -> Result<Array> {
    let (x, threshold) = (cx.tensor(0)?, cx.float("threshold", 0.0));
    let bits = x.f64s()?.into_iter().map(|value| f64::from(u8::from(value > threshold)));
    Array::from_f64s(x.elem(), x.shape().to_vec(), bits.collect())
}

/// Returns the parameter for the element at offset `at`.
/// If there is one parameter per feature, selects the parameter by the element's index on the last axis.
fn per_feature(values: &[f64], at: usize, width: usize) -> Result<f64> {
    match values {
        [one] => Ok(*one),
        values if values.len() == width => Ok(values[at % width]),
        _ => bad("the parameters must have one entry, or one per feature"),
    }
}

/// Computes `Scaler`: `(x − offset) · scale` as `float`, per feature or for all features.
pub(super) fn scale(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let (offsets, scales) = match (cx.floats("offset"), cx.floats("scale")) {
        (Some(offsets), Some(scales)) => (offsets, scales),
        _ => return bad("`offset` and `scale` are required"),
    };
    let width = x.shape().last().copied().unwrap_or(1);
    let scaled =
        x.f64s()?.into_iter().enumerate().map(|(i, value)| {
            Ok((value - per_feature(&offsets, i, width)?) * per_feature(&scales, i, width)?)
        });
    Array::from_f64s(ElemType::Float, x.shape().to_vec(), scaled.collect::<Result<_>>()?)
}

/// Computes `Normalizer`: divides each row by its norm, if nonzero. The output is `float`.
pub(super) fn normalize(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let norm: fn(&[f64]) -> f64 = match cx.text("norm", "MAX").as_str() {
        "MAX" => |row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "L1" => |row| row.iter().map(|x| x.abs()).sum(),
        "L2" => |row| row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        _ => return bad("unknown value of `norm`"),
    };
    let width = x.shape().last().copied().unwrap_or(1);
    let mut data = x.f64s()?;
    for row in data.chunks_mut(width.max(1)) {
        let norm = norm(row);
        if norm != 0.0 {
            row.iter_mut().for_each(|x| *x /= norm);
        }
    }
    Array::from_f64s(ElemType::Float, x.shape().to_vec(), data)
}

/// Computes `Imputer`: replaces one value, which may be NaN, by the imputed value of the feature.
pub(super) fn impute(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let width = x.shape().last().copied().unwrap_or(1);
    let (replaced, values) = match x.elem().is_float() {
        true => (cx.float("replaced_value_float", 0.0), cx.floats("imputed_value_floats")),
        false => (
            cx.int("replaced_value_int64", 0) as f64,
            cx.ints("imputed_value_int64s").map(|values| values.iter().map(|&x| x as f64).collect()),
        ),
    };
    let values = values.ok_or(Refusal::BadInput("an `imputed_value_*` attribute is required"))?;
    let imputed = x.f64s()?.into_iter().enumerate().map(|(i, value)| {
        let missing = value == replaced || value.is_nan() && replaced.is_nan();
        if missing { per_feature(&values, i, width) } else { Ok(value) }
    });
    Array::from_f64s(x.elem(), x.shape().to_vec(), imputed.collect::<Result<_>>()?)
}

/// Computes `FeatureVectorizer`: joins the columns of all inputs as `float`.
pub(super) fn vectorize(cx: &Cx) -> Result<Array> {
    let parts = cx.tensors()?.into_iter().map(|x| {
        let rows = match *x.shape() {
            [width] => vec![1, width],
            [rows, width] => vec![rows, width],
            _ => return bad("each input must be a vector or a matrix"),
        };
        Array::from_f64s(ElemType::Float, rows, x.f64s()?)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    join(cx, &parts.iter().collect::<Vec<_>>(), 1)
}

/// Computes `LinearRegressor`; `post_transform` is not supported.
pub(super) fn linear_regressor(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let &[rows, width] = x.shape() else { return bad("the input must be a matrix") };
    let targets = to_size(cx.int("targets", 1))?;
    let weights = cx.floats("coefficients").unwrap_or_default();
    let intercepts = cx.floats("intercepts").unwrap_or_else(|| vec![0.0; targets]);
    if targets.checked_mul(width) != Some(weights.len()) || intercepts.len() != targets {
        return bad("the number of coefficients or intercepts does not match the features and targets");
    }
    if cx.text("post_transform", "NONE") != "NONE" {
        return Err(Refusal::Unsupported);
    }
    cx.room(&[rows, targets])?;
    cx.work(&[rows, targets, width])?;
    let values = x.f64s()?;
    let y = (0..rows * targets).map(|i| {
        let (row, target) = (i / targets, i % targets);
        let features = &values[row * width..(row + 1) * width];
        let terms = features.iter().zip(&weights[target * width..]).map(|(x, w)| x * w);
        intercepts[target] + terms.sum::<f64>()
    });
    Array::from_f64s(ElemType::Float, vec![rows, targets], y.collect())
}
