//! Reshape and Flatten.

use super::super::cx::{Cx, It, Operand};
use super::super::layout::{Layout, placed};
use super::super::obstacle::{Result, fixes, unknown};
use super::only_first;
use crate::graph::NodeId;
use crate::graph::syntax::dims;

/// Rewrites Reshape.
pub fn reshape(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    if let Some(done) = by_numbers(cx, id, &operand)? {
        let (item, layout) = done;
        return cx.bind_outputs(id, &[Some(item)], &[layout]);
    }
    let shape = cx.required(id, 1)?;
    if cx.int(id, "allowzero") == Some(1) {
        return unknown("not all sizes are known to be above 0, and `allowzero` is set");
    }
    let target = cx.const_ints(id, 1);
    let leads = cx.out_dims(id).is_some_and(|dims| dims.first() == Some(&Some(1)));
    // A 0 copies the dimension at the same position of the input: the number of samples.
    let zero = cx.vector(&[0])?;
    if operand.layout == Layout::plain(0) && leads && cx.samples.traced == 1 {
        let target = match &target {
            Some(target) => {
                let target: Vec<i64> = std::iter::once(0).chain(target.iter().skip(1).copied()).collect();
                cx.vector(&target)?
            }
            None => {
                let Some(rank) = cx.out_dims(id).map(|dims| dims.len()) else {
                    return unknown("the rank of its result is not known");
                };
                let rest = rest_of(cx, shape.item, rank)?;
                cx.join(&[zero, rest])
            }
        };
        let outputs = cx.keep(id, vec![Some(operand.item), Some(target)]);
        return cx.bind_outputs(id, &outputs, &[Layout::plain(0)]);
    }
    let stacked = cx.stacked(&operand)?;
    let target = match &target {
        Some(target) => {
            let target: Vec<i64> = std::iter::once(0).chain(target.iter().copied()).collect();
            cx.vector(&target)?
        }
        None => cx.join(&[zero, shape.item]),
    };
    let outputs = cx.keep(id, vec![Some(stacked), Some(target)]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Returns all elements of a vector but the first.
fn rest_of(cx: &mut Cx, vector: It, length: usize) -> Result<It> {
    let at: Vec<i64> = (1..length as i64).collect();
    let at = cx.vector(&at)?;
    Ok(cx.emit("Gather", vec![super::super::emit::attr_int("axis", 0)], &[vector, at]))
}

/// Emits a Reshape between static shapes.
/// Returns `None` if not all sizes are known and above 0.
fn by_numbers(cx: &mut Cx, id: NodeId, operand: &Operand) -> Result<Option<(It, Layout)>> {
    let all = |dims: Option<&[Option<i64>]>| -> Option<Vec<i64>> {
        dims?.iter().map(|dim| dim.filter(|&dim| dim > 0)).collect()
    };
    let out = cx.out_dims(id);
    let (Some(from), Some(to)) = (all(operand.dims.as_deref()), all(out.as_deref())) else { return Ok(None) };
    let traced = cx.samples.traced;
    let made = |cx: &mut Cx, item: It, target: &[i64]| -> Result<It> {
        cx.replace(id);
        let target = cx.vector(target)?;
        Ok(cx.emit("Reshape", Vec::new(), &[item, target]))
    };
    if let Layout::Axis { axis, pre, .. } = operand.layout {
        let outer = from[..axis].iter().product::<i64>() * pre;
        if let Some(layout @ Layout::Axis { axis, .. }) = placed(outer, traced, &to) {
            let mut target = to.clone();
            target[axis] = -1;
            return Ok(Some((made(cx, operand.item, &target)?, layout)));
        }
        if traced != 1 {
            return fixes(format!(
                "no axis of its target shape {} can hold a number of samples other than {traced}",
                dims(&to)
            ));
        }
    }
    let stacked = cx.stacked(operand)?;
    if to.first() == Some(&1) {
        let target: Vec<i64> = std::iter::once(-1).chain(to[1..].iter().copied()).collect();
        return Ok(Some((made(cx, stacked, &target)?, Layout::plain(0))));
    }
    let target: Vec<i64> = std::iter::once(-1).chain(to).collect();
    Ok(Some((made(cx, stacked, &target)?, Layout::Stacked)))
}

/// Rewrites Flatten.
pub fn flatten(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let axis = cx.int(id, "axis").unwrap_or(1);
    let rank = operand.rank()? as i64;
    let axis = if axis < 0 { axis + rank } else { axis };
    if let Layout::Axis { axis: 0, .. } = operand.layout
        && axis == 1
    {
        let items = vec![Some(operand.item)];
        let outputs = match cx.int(id, "axis") {
            Some(named) if named < 0 => {
                cx.remake(id, items, vec![super::super::emit::attr_int("axis", 1)], &[])
            }
            _ => cx.keep(id, items),
        };
        return cx.bind_outputs(id, &outputs, &[operand.layout]);
    }
    match by_numbers(cx, id, &operand)? {
        Some((item, layout)) => cx.bind_outputs(id, &[Some(item)], &[layout]),
        None => unknown("not all sizes of its input are known to be above 0"),
    }
}
