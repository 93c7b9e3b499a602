//! Conversion between maps and tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::encode::{Key, keys};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Refusal, Result, Val, bad};

const NO_KEYS: Refusal = Refusal::BadInput("exactly one of the attributes with the keys is required");

fn table(cx: &Cx, ints: &str, strings: &str) -> Result<Array> {
    match (cx.ints(ints), cx.texts(strings)) {
        (Some(keys), None) => Array::i64s(vec![keys.len()], keys),
        (None, Some(keys)) => Array::strings(vec![keys.len()], keys),
        _ => Err(NO_KEYS),
    }
}

/// Computes `ZipMap`: converts each row to a map from class labels to scores.
pub(super) fn zip_map(cx: &Cx) -> Result<Vec<Val>> {
    let x = cx.tensor(0)?;
    let labels = Arc::new(table(cx, "classlabels_int64s", "classlabels_strings")?);
    let (rows, width) = match *x.shape() {
        [width] => (1, width),
        [rows, width] => (rows, width),
        _ => return bad("the input must be a vector or a matrix"),
    };
    if labels.len() != width {
        return bad("the numbers of labels and scores differ");
    }
    cx.room(&[rows, width])?;
    let row = |i: usize| {
        let scores = (0..width).map(|j| Ok(x.take(vec![], &[i * width + j])?.into()));
        Ok(Val::Map(labels.clone(), scores.collect::<Result<_>>()?))
    };
    Ok(vec![Val::Sequence((0..rows).map(row).collect::<Result<_>>()?)])
}

/// Computes `DictVectorizer`: the values of a map in vocabulary order, zero for absent keys.
pub(super) fn dict_vectorizer(cx: &Cx) -> Result<Array> {
    let Some(Val::Map(given, values)) = cx.val(0) else { return bad("the input must be a map") };
    let vocabulary = table(cx, "int64_vocabulary", "string_vocabulary")?;
    let scalar = |value: &Val| match value {
        Val::Tensor(array) if array.len() == 1 => array.reshaped(vec![1]),
        _ => bad("the input must be a map to scalars"),
    };
    let values = values.iter().map(scalar).collect::<Result<Vec<_>>>()?;
    let Some(first) = values.first() else { return Err(Refusal::Unsupported) };
    let pool = Array::gathered(first.elem(), &values.iter().collect::<Vec<_>>())?;
    let places: BTreeMap<Key, usize> = keys(given)?.into_iter().zip(0..pool.len()).collect();
    let wanted: Vec<Option<usize>> = keys(&vocabulary)?.iter().map(|key| places.get(key).copied()).collect();
    pool.take_or(vec![1, wanted.len()], &wanted, None)
}
