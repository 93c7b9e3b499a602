//! Tensors built from sizes and a few values.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::{Cx, only_int};
use crate::infer::eval::math::elem_attr;
use crate::infer::eval::shape::{Split, axis, index, to_sizes};
use crate::infer::eval::{Array, Attr, Buffer, Refusal, Result, Val, bad, int_range};

/// Computes `Constant`; sparse tensors are not supported.
pub(super) fn constant(cx: &Cx) -> Result<Vec<Val>> {
    let names =
        ["value", "value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"];
    let strings = |values: Vec<&[u8]>| values.into_iter().map(<[u8]>::to_vec).collect();
    let array = match names.iter().find_map(|name| cx.attr(name)) {
        Some(Attr::Tensor(array)) => return Ok(vec![Val::Tensor(array)]),
        Some(Attr::Int(value)) => Array::i64s(vec![], vec![value]),
        Some(Attr::Ints(values)) => Array::i64s(vec![values.len()], values.to_vec()),
        Some(Attr::Float(value)) => Array::new(ElemType::Float, vec![], Buffer::F32(vec![value])),
        Some(Attr::Floats(values)) => {
            Array::new(ElemType::Float, vec![values.len()], Buffer::F32(values.to_vec()))
        }
        Some(Attr::Str(value)) => Array::strings(vec![], vec![value.to_vec()]),
        Some(Attr::Strs(values)) => Array::strings(vec![values.len()], strings(values)),
        Some(Attr::Other) | None => return Err(Refusal::Unsupported),
    };
    Ok(vec![array?.into()])
}

/// Computes `ConstantOfShape`; without `value`, the elements are zeros of type `float`.
pub(super) fn constant_of_shape(cx: &Cx) -> Result<Array> {
    let shape = to_sizes(&cx.tensor(0)?.as_i64s()?)?;
    let count = cx.room(&shape)?;
    match cx.array_attr("value") {
        Some(value) if value.len() == 1 => value.take(shape, &vec![0; count]),
        Some(_) => bad("the attribute `value` must have one element"),
        None => Array::zeros(ElemType::Float, shape),
    }
}

/// Computes `Range`: all `start + i · delta` up to, but not including, `limit`.
pub(super) fn range(cx: &Cx) -> Result<Array> {
    let (start, limit, delta) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    if start.elem().is_integer() {
        let [start_at, limit, delta] = [start, limit, delta].map(|x| only_int(x).map(i128::from));
        let (start_at, limit, delta) = (start_at?, limit?, delta?);
        if delta == 0 {
            return bad("the step must not be 0");
        }
        let (least, most) = int_range(start.elem());
        if !(least..=most).contains(&(limit - start_at)) {
            // Runtimes compute `limit - start` in the element type, so the difference overflows.
            return Err(Refusal::Unsupported);
        }
        let count = usize::try_from((limit - start_at + delta - delta.signum()) / delta).unwrap_or(0);
        cx.room(&[count])?;
        let data = (0..count).map(|i| start_at + i as i128 * delta).collect();
        return Array::from_ints(start.elem(), vec![count], data);
    }
    let absent = Refusal::BadInput("a required input is absent");
    let number = |i| cx.scalar(i)?.ok_or(absent.clone());
    let (from, limit, delta) = (number(0)?, number(1)?, number(2)?);
    if delta == 0.0 {
        return bad("the step must not be 0");
    }
    let count = ((limit - from) / delta).ceil().max(0.0);
    if !count.is_finite() {
        return bad("the length of the range is not finite");
    }
    let count = cx.room(&[count as usize])?;
    let data = (0..count).map(|i| from + i as f64 * delta).collect();
    Array::from_f64s(start.elem(), vec![count], data)
}

/// Computes `EyeLike`; without `dtype`, the output has the element type of the input.
pub(super) fn eye_like(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let &[rows, columns] = x.shape() else { return bad("the input must be a matrix") };
    cx.room(x.shape())?;
    let elem = elem_attr(cx, "dtype")?.unwrap_or(x.elem());
    let diagonal = i128::from(cx.int("k", 0));
    let data = (0..rows)
        .flat_map(|i| (0..columns).map(move |j| i128::from(j as i128 - i as i128 == diagonal)))
        .collect();
    Array::from_ints(elem, vec![rows, columns], data)
}

/// Computes `OneHot`; for an index out of range, all elements are off.
pub(super) fn one_hot(cx: &Cx) -> Result<Array> {
    let (indices, depth, values) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let whole = |array: &Array| -> Result<Vec<i64>> {
        match array.elem().is_integer() {
            true => array.as_i64s(),
            false => Ok(array.f64s()?.into_iter().map(|x| x as i64).collect()),
        }
    };
    let [depth] = to_sizes(&whole(depth)?)?[..] else { return bad("the depth must be a scalar") };
    if values.len() != 2 {
        return bad("the values must have two elements, off and on");
    }
    let along = axis(cx.int("axis", -1), indices.rank() + 1)?;
    let mut shape = indices.shape().to_vec();
    shape.insert(along, depth);
    let count = cx.room(&shape)?;
    let mut chosen = vec![0; count];
    let split = Split::at(&shape, along)?;
    for (start, value) in split.lines().zip(whole(indices)?) {
        if let Some(i) = index(value, depth) {
            chosen[start + i * split.inner] = 1;
        }
    }
    values.take(shape, &chosen)
}

/// Computes `Trilu`: keeps diagonal `k` of each matrix and the elements on one side; the rest is 0.
pub(super) fn trilu(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let [.., rows, columns] = *x.shape() else { return bad("the input must have rank 2 or higher") };
    let diagonal = i128::from(cx.scalar_int(1)?.unwrap_or(0));
    let upper = cx.flag("upper", true)?;
    let kept: Vec<Option<usize>> = (0..x.len())
        .map(|at| {
            let (i, j) = ((at / columns % rows) as i128, (at % columns) as i128);
            let keep = if upper { j - i >= diagonal } else { j - i <= diagonal };
            keep.then_some(at)
        })
        .collect();
    x.take_or(x.shape().to_vec(), &kept, None)
}
