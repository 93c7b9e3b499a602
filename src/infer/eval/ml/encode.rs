//! Mapping of elements by key-value tables.

use std::collections::BTreeMap;

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Attr, Buffer, Refusal, Result, bad};

/// An element as a table key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Int(i128),
    /// Bits of a number. All NaNs have the same key, and −0 has the key of +0.
    Real(u64),
    Text(Vec<u8>),
}

/// Converts each element to a table key.
pub(super) fn keys(x: &Array) -> Result<Vec<Key>> {
    if let Ok(strings) = x.as_strings() {
        return Ok(strings.iter().cloned().map(Key::Text).collect());
    }
    if !x.elem().is_float() {
        return Ok(x.ints()?.into_iter().map(Key::Int).collect());
    }
    let canonical = |value: f64| if value.is_nan() { f64::NAN } else { value + 0.0 };
    Ok(x.f64s()?.into_iter().map(|value| Key::Real(canonical(value).to_bits())).collect())
}

/// Returns the first of these attributes that is present, as a vector.
fn list(cx: &Cx, names: &[&str]) -> Result<Array> {
    match names.iter().find_map(|name| cx.attr(name)) {
        Some(Attr::Tensor(array)) => array.reshaped(vec![array.len()]),
        Some(Attr::Ints(values)) => Array::i64s(vec![values.len()], values.to_vec()),
        Some(Attr::Floats(values)) => {
            Array::new(ElemType::Float, vec![values.len()], Buffer::F32(values.to_vec()))
        }
        Some(Attr::Strs(values)) => {
            Array::strings(vec![values.len()], values.into_iter().map(<[u8]>::to_vec).collect())
        }
        _ => bad("the attribute with the keys or values is required"),
    }
}

/// Maps each element to the value of its key; the last of equal keys wins.
fn mapped(x: &Array, from: &Array, to: &Array, default: &Array) -> Result<Array> {
    if from.len() != to.len() {
        return bad("the numbers of keys and values differ");
    }
    let table: BTreeMap<Key, usize> = keys(from)?.into_iter().zip(0..).collect();
    let places: Vec<Option<usize>> = keys(x)?.iter().map(|key| table.get(key).copied()).collect();
    to.take_or(x.shape().to_vec(), &places, Some(default))
}

fn default_for(cx: &Cx, values: &Array) -> Result<Array> {
    if let Some(default) = cx.array_attr("default_tensor") {
        return Ok(default.as_ref().clone());
    }
    match values.elem() {
        ElemType::String => Array::strings(vec![1], vec![cx.text("default_string", "_Unused").into_bytes()]),
        elem if elem.is_float() => Array::from_f64s(elem, vec![1], vec![cx.float("default_float", -0.0)]),
        elem => Array::from_ints(elem, vec![1], vec![cx.int("default_int64", -1).into()]),
    }
}

/// Computes `LabelEncoder`. Version 1 maps between a string list and its indices, in either direction.
pub(super) fn label_encoder(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    if cx.version() < 2 {
        let names = list(cx, &["classes_strings"])?;
        let numbers = Array::i64s(vec![names.len()], (0..names.len() as i64).collect())?;
        return either_way(cx, &names, &numbers);
    }
    let from = list(cx, &["keys_tensor", "keys_strings", "keys_int64s", "keys_floats"])?;
    let to = list(cx, &["values_tensor", "values_strings", "values_int64s", "values_floats"])?;
    if x.elem() != from.elem() {
        return bad("the element types of the input and the keys differ");
    }
    mapped(x, &from, &to, &default_for(cx, &to)?)
}

/// Computes `CategoryMapper`: strings to integers, or integers to strings.
pub(super) fn category_mapper(cx: &Cx) -> Result<Array> {
    either_way(cx, &list(cx, &["cats_strings"])?, &list(cx, &["cats_int64s"])?)
}

fn either_way(cx: &Cx, names: &Array, numbers: &Array) -> Result<Array> {
    let x = cx.tensor(0)?;
    match x.elem() {
        ElemType::String => mapped(x, names, numbers, &default_for(cx, numbers)?),
        _ => mapped(x, numbers, names, &default_for(cx, names)?),
    }
}

/// Computes `OneHotEncoder`, which adds an axis for the categories.
pub(super) fn one_hot(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let categories = keys(&list(cx, &["cats_int64s", "cats_strings"])?)?;
    let mut shape = x.shape().to_vec();
    shape.push(categories.len());
    let mut y = vec![0.0; cx.room(&shape)?];
    let whole: Vec<Key> = match x.elem().is_float() {
        true => x.f64s()?.into_iter().map(|value| Key::Int(value as i128)).collect(),
        false => keys(x)?,
    };
    for (row, key) in whole.iter().enumerate() {
        match categories.iter().position(|category| category == key) {
            Some(at) => y[row * categories.len() + at] = 1.0,
            None if cx.flag("zeros", true)? => {}
            None => return Err(Refusal::BadInput("an element is not a known category")),
        }
    }
    Array::from_f64s(ElemType::Float, shape, y)
}
