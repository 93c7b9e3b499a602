//! Operators that depend on the order or equality of elements.

use std::collections::BTreeMap;

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::view::permuted;
use crate::infer::eval::shape::{self, Split, positions, to_size};
use crate::infer::eval::{Array, Buffer, Refusal, Result, bad};

/// Returns the rank of each element among the distinct values; fails on NaN, which has no rank.
fn ranks(x: &Array) -> Result<Vec<usize>> {
    fn dense<T: PartialOrd>(values: &[T]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].partial_cmp(&values[j]).unwrap_or(std::cmp::Ordering::Equal));
        let mut ranks = vec![0; values.len()];
        for pair in order.windows(2) {
            ranks[pair[1]] = ranks[pair[0]] + usize::from(values[pair[0]] < values[pair[1]]);
        }
        ranks
    }
    if let Ok(strings) = x.as_strings() {
        return Ok(dense(strings));
    }
    if !x.elem().is_float() {
        return Ok(dense(&x.ints()?));
    }
    let values = x.f64s()?;
    if values.iter().any(|value| value.is_nan()) {
        return Err(Refusal::Unsupported);
    }
    Ok(dense(&values))
}

/// Computes `NonZero`: one column of coordinates per nonzero element; refuses scalars.
pub(super) fn non_zero(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    // By the specification, a position has one coordinate per axis; runtimes treat a scalar as a vector.
    if x.rank() == 0 {
        return Err(Refusal::Unsupported);
    }
    cx.work(&[x.len(), x.rank().max(1)])?;
    let set: Vec<bool> = match x.data() {
        Buffer::Str(strings) => strings.iter().map(|s| !s.is_empty()).collect(),
        _ => x.f64s()?.into_iter().map(|value| value != 0.0).collect(),
    };
    let found: Vec<Vec<usize>> =
        positions(x.shape()).zip(set).filter(|(_, set)| *set).map(|(position, _)| position).collect();
    let rank = x.rank();
    cx.room(&[rank, found.len()])?;
    let data = (0..rank).flat_map(|i| found.iter().map(move |position| position[i] as i64)).collect();
    Array::i64s(vec![rank, found.len()], data)
}

/// Computes `TopK`. Equal elements keep their order.
/// The values are sorted even if `sorted` is 0, which the specification allows.
pub(super) fn top_k(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.work(&[x.len()])?;
    if cx.maybe(1)?.is_some_and(|k| k.rank() != 1) {
        return bad("`k` must have rank 1");
    }
    let k = cx.scalar_int(1)?.or(cx.int_attr("k")).ok_or(Refusal::BadInput("`k` is required"))?;
    let k = to_size(k)?;
    let along = shape::axis(cx.int("axis", -1), x.rank())?;
    if k > x.shape()[along] {
        return bad("`k` exceeds the size of the axis");
    }
    let largest = cx.flag("largest", true)?;
    let ranks = ranks(x)?;
    let split = Split::at(x.shape(), along)?;
    let mut result = x.shape().to_vec();
    result[along] = k;
    let kept = Split::at(&result, along)?;
    let count = cx.room(&result)?;
    let (mut offsets, mut indices) = (vec![0; count], vec![0i64; count]);
    for (start, to) in split.lines().zip(kept.lines()) {
        let mut line: Vec<usize> = split.line(start).collect();
        line.sort_by(|&a, &b| if largest { ranks[b].cmp(&ranks[a]) } else { ranks[a].cmp(&ranks[b]) });
        for (at, &from) in kept.line(to).zip(&line) {
            offsets[at] = from;
            indices[at] = ((from - start) / split.inner) as i64;
        }
    }
    Ok(vec![x.take(result.clone(), &offsets)?, Array::i64s(result, indices)?])
}

/// Computes `Unique` for values or, with an axis, slices.
/// Returns the values, the position of their first occurrence, the inverse indices, and the counts.
pub(super) fn unique(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let ranks = ranks(x)?;
    let (flat, along) = match cx.int_attr("axis") {
        None => (x.reshaped(vec![x.len()])?, 0),
        Some(along) => (x.clone(), shape::axis(along, x.rank())?),
    };
    let ranks = Array::i64s(flat.shape().to_vec(), ranks.into_iter().map(|rank| rank as i64).collect())?;
    let mut order: Vec<usize> = (0..flat.rank()).filter(|&i| i != along).collect();
    order.insert(0, along);
    let rows = permuted(&ranks, &order)?.as_i64s()?;
    let count = flat.shape()[along];
    let width = rows.len().checked_div(count).unwrap_or(0);
    // Positions of each distinct row, ordered by the value of the row.
    let mut found: BTreeMap<&[i64], Vec<usize>> = BTreeMap::new();
    for i in 0..count {
        found.entry(&rows[i * width..(i + 1) * width]).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = found.into_values().collect();
    if !cx.flag("sorted", true)? {
        groups.sort_by_key(|group| group[0]);
    }
    let mut inverse = vec![0i64; count];
    for (i, group) in groups.iter().enumerate() {
        group.iter().for_each(|&at| inverse[at] = i as i64);
    }
    let mut places: Vec<_> = flat.shape().iter().map(|&dim| super::by_axis::whole(dim)).collect();
    places[along] = groups.iter().map(|group| Some(group[0])).collect();
    let vector = |data: Vec<i64>| Array::new(ElemType::Int64, vec![data.len()], Buffer::I64(data));
    Ok(vec![
        super::by_axis(cx, &flat, &places, None)?,
        vector(groups.iter().map(|group| group[0] as i64).collect())?,
        vector(inverse)?,
        vector(groups.iter().map(|group| group.len() as i64).collect())?,
    ])
}
