//! Sequences and optionals.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::{join, pieces};
use crate::infer::eval::shape::{axis, index, to_size, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, Val, bad};

const ABSENT: Refusal = Refusal::BadInput("a required input is absent");

/// Computes `Identity` of any kind of value.
pub(super) fn identity(cx: &Cx) -> Result<Vec<Val>> {
    Ok(vec![cx.val(0).ok_or(ABSENT)?.clone()])
}

/// Computes `Optional`; without an input, the result is empty.
pub(super) fn optional(cx: &Cx) -> Result<Vec<Val>> {
    Ok(vec![Val::Optional(cx.val(0).cloned().map(Box::new))])
}

/// Computes `OptionalGetElement`; a plain value, valid since opset 18, is returned unchanged.
pub(super) fn optional_get_element(cx: &Cx) -> Result<Vec<Val>> {
    match cx.val(0).ok_or(ABSENT)? {
        Val::Optional(None) => bad("the optional is empty"),
        Val::Optional(Some(inner)) => Ok(vec![inner.as_ref().clone()]),
        other => Ok(vec![other.clone()]),
    }
}

/// Computes `OptionalHasElement`; false for an absent input, true for a plain value.
pub(super) fn optional_has_element(cx: &Cx) -> Result<Array> {
    let has = !matches!(cx.val(0), None | Some(Val::Optional(None)));
    Array::bools(vec![], vec![has])
}

/// Computes `SequenceEmpty`; the value does not record the element type.
pub(super) fn empty(_: &Cx) -> Result<Vec<Val>> {
    Ok(vec![Val::Sequence(vec![])])
}

/// Computes `SequenceConstruct`; fails if an input is absent.
pub(super) fn construct(cx: &Cx) -> Result<Vec<Val>> {
    let items = (0..cx.count()).map(|i| cx.val(i).cloned().ok_or(ABSENT)).collect::<Result<_>>()?;
    Ok(vec![Val::Sequence(items)])
}

/// Reads input `i` as a position in a sequence of `len` items, counted from 0.
///
/// Returns `None` if the input is absent.
fn place(cx: &Cx, i: usize, len: usize) -> Result<Option<usize>> {
    let out = Refusal::BadInput("a position is out of range");
    cx.scalar_int(i)?.map(|at| index(at, len).ok_or(out)).transpose()
}

/// Computes `SequenceAt`; a negative position counts from the end.
pub(super) fn at(cx: &Cx) -> Result<Vec<Val>> {
    let items = cx.sequence(0)?;
    let at = place(cx, 1, items.len())?.ok_or(ABSENT)?;
    Ok(vec![items[at].clone()])
}

/// Computes `SequenceInsert`, by default at the end.
pub(super) fn insert(cx: &Cx) -> Result<Vec<Val>> {
    let mut items = cx.sequence(0)?.to_vec();
    let item = cx.val(1).ok_or(ABSENT)?.clone();
    let at = match cx.scalar_int(2)? {
        Some(at) if at == items.len() as i64 => items.len(),
        _ => place(cx, 2, items.len())?.unwrap_or(items.len()),
    };
    items.insert(at, item);
    Ok(vec![Val::Sequence(items)])
}

/// Computes `SequenceErase`, by default of the last item.
pub(super) fn erase(cx: &Cx) -> Result<Vec<Val>> {
    let mut items = cx.sequence(0)?.to_vec();
    let last = items.len().checked_sub(1).ok_or(Refusal::BadInput("the sequence is empty"))?;
    let at = place(cx, 1, items.len())?.unwrap_or(last);
    items.remove(at);
    Ok(vec![Val::Sequence(items)])
}

/// Computes `SequenceLength` as an `int64` scalar.
pub(super) fn length(cx: &Cx) -> Result<Array> {
    Array::i64s(vec![], vec![cx.sequence(0)?.len() as i64])
}

/// Computes `SplitToSequence`.
/// A scalar `split`, by default 1, is the size of each part; the last part may be smaller. With `keepdims` 0,
/// parts of size 1 lose the axis. A vector `split` contains the size of each part; `keepdims` is ignored then.
pub(super) fn split(cx: &Cx) -> Result<Vec<Val>> {
    let x = cx.tensor(0)?;
    let along = axis(cx.int("axis", 0), x.rank())?;
    let dim = x.shape()[along];
    let mut drop_axis = false;
    let sizes = match cx.maybe(1)? {
        Some(sizes) if sizes.rank() > 0 => to_sizes(&sizes.as_i64s()?)?,
        scalar => {
            drop_axis = !cx.flag("keepdims", true)?;
            let size = to_size(cx.scalar_int(1)?.unwrap_or(1))?;
            if size == 0 {
                return bad("the size of a part must not be 0");
            }
            // With a scalar `split` and `keepdims` 0, the specification keeps the axis; ONNX Runtime removes
            // the axis, and accepts only size 1.
            if drop_axis && scalar.is_some() && size != 1 {
                return bad("`keepdims` can be 0 only for parts of size 1");
            }
            (0..dim.div_ceil(size)).map(|i| size.min(dim - i * size)).collect()
        }
    };
    let parts = pieces(cx, x, along, &sizes)?.into_iter().map(|part| {
        let mut shape = part.shape().to_vec();
        if !drop_axis {
            return Ok(part.into());
        }
        shape.remove(along);
        Ok(part.reshaped(shape)?.into())
    });
    Ok(vec![Val::Sequence(parts.collect::<Result<_>>()?)])
}

/// Computes `ConcatFromSequence`, which stacks the items if `new_axis` is 1.
pub(super) fn concat(cx: &Cx) -> Result<Array> {
    let mut parts = Vec::new();
    let new_axis = cx.flag("new_axis", false)?;
    let along = cx.int_attr("axis").ok_or(Refusal::BadInput("the attribute `axis` is required"))?;
    for item in cx.sequence(0)? {
        let Val::Tensor(array) = item else { return bad("the input must be a sequence of tensors") };
        let mut shape = array.shape().to_vec();
        if new_axis {
            shape.insert(axis(along, array.rank() + 1)?, 1);
        }
        parts.push(array.reshaped(shape)?);
    }
    join(cx, &parts.iter().collect::<Vec<_>>(), along)
}
