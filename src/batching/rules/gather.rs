//! Gather, GatherElements, GatherND and OneHot.

use super::super::cx::Cx;
use super::super::emit::attr_int;
use super::super::layout::Layout;
use super::super::obstacle::{Result, fixes, unknown, unsupported};
use super::{moved, only};
use crate::graph::NodeId;
use crate::infer::eval::index;

/// Rewrites Gather.
pub fn gather(cx: &mut Cx, id: NodeId) -> Result<()> {
    let (data, at) = (cx.required(id, 0)?, cx.required(id, 1)?);
    let (rank, wide) = (data.rank()?, at.rank()?);
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), rank) else {
        return unknown("its axis is out of range");
    };
    let items = vec![Some(data.item), Some(at.item)];
    match (data.layout, at.layout) {
        (Layout::Axis { axis: carried, .. }, Layout::Shared) if carried != axis => {
            let to = if carried < axis { carried } else { carried + wide - 1 };
            let outputs = cx.keep(id, items);
            cx.bind_outputs(id, &outputs, &[moved(data.layout, to)])
        }
        (Layout::Axis { .. }, Layout::Shared) if cx.samples.traced != 1 => {
            fixes("it selects samples by index")
        }
        (_, Layout::Shared) => {
            let stacked = cx.stacked(&data)?;
            let outputs = cx.remake(
                id,
                vec![Some(stacked), Some(at.item)],
                vec![attr_int("axis", axis as i64 + 1)],
                &[],
            );
            cx.bind_outputs(id, &outputs, &[Layout::Stacked])
        }
        (Layout::Shared, Layout::Axis { axis: carried, .. }) => {
            let outputs = cx.keep(id, items);
            cx.bind_outputs(id, &outputs, &[moved(at.layout, axis + carried)])
        }
        (Layout::Shared, _) => {
            let outputs = cx.keep(id, items);
            let Some(Some(item)) = outputs.first().copied() else { return Ok(()) };
            // The result has the sample axis at the position of the gathered axis.
            let all = rank + wide;
            let perm: Vec<usize> =
                std::iter::once(axis).chain((0..all).filter(|&other| other != axis)).collect();
            let item = cx.transpose(item, &perm)?;
            cx.bind_outputs(id, &[Some(item)], &[Layout::Stacked])
        }
        _ => both(cx, id, axis, rank, wide),
    }
}

/// Replaces a Gather of carried data at carried indices by a GatherND with a batch dimension.
fn both(cx: &mut Cx, id: NodeId, axis: usize, rank: usize, wide: usize) -> Result<()> {
    if cx.scope.opset < 12 {
        return unsupported("GatherND has no `batch_dims` before opset 12");
    }
    let (data, at) = (cx.required(id, 0)?, cx.required(id, 1)?);
    let (data, at) = (cx.stacked(&data)?, cx.stacked(&at)?);
    let to_front: Vec<usize> =
        [0, axis + 1].into_iter().chain((1..=rank).filter(|&one| one != axis + 1)).collect();
    let data = cx.transpose(data, &to_front)?;
    let at = cx.unsqueeze(at, &[-1])?;
    let taken = cx.emit("GatherND", vec![attr_int("batch_dims", 1)], &[data, at]);
    // Transpose [N, indices…, axes before, axes after] to [N, axes before, indices…, axes after].
    let (first, last) = (1 + wide, 1 + wide + axis);
    let perm: Vec<usize> =
        [0].into_iter().chain(first..last).chain(1..first).chain(last..rank + wide).collect();
    let item = cx.transpose(taken, &perm)?;
    cx.replace(id);
    cx.bind_outputs(id, &[Some(item)], &[Layout::Stacked])
}

/// Rewrites GatherElements.
pub fn gather_elements(cx: &mut Cx, id: NodeId) -> Result<()> {
    let (data, at) = (cx.required(id, 0)?, cx.required(id, 1)?);
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), data.rank()?) else {
        return unknown("its axis is out of range");
    };
    if let (Layout::Axis { axis: carried, .. }, true) = (data.layout, data.layout == at.layout)
        && carried != axis
    {
        let outputs = cx.keep(id, vec![Some(data.item), Some(at.item)]);
        return cx.bind_outputs(id, &outputs, &[data.layout]);
    }
    let items = vec![Some(cx.spread(&data)?), Some(cx.spread(&at)?)];
    let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites GatherND.
pub fn gather_nd(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.scope.opset < 12 {
        return unsupported("GatherND has no `batch_dims` before opset 12");
    }
    let (data, at) = (cx.required(id, 0)?, cx.required(id, 1)?);
    let batch = cx.int(id, "batch_dims").unwrap_or(0);
    if let (Layout::Shared, Layout::Axis { axis, .. }) = (data.layout, at.layout)
        && batch == 0
        && axis + 1 < at.rank()?
    {
        let outputs = cx.keep(id, vec![Some(data.item), Some(at.item)]);
        return cx.bind_outputs(id, &outputs, &[moved(at.layout, axis)]);
    }
    let items = vec![Some(cx.spread(&data)?), Some(cx.spread(&at)?)];
    let outputs = cx.remake(id, items, vec![attr_int("batch_dims", batch + 1)], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites OneHot.
pub fn one_hot(cx: &mut Cx, id: NodeId) -> Result<()> {
    only(cx, id, &[0])?;
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(-1), rank + 1) else {
        return unknown("its axis is out of range");
    };
    let mut items = cx.inputs(id);
    if let Layout::Axis { axis: at, .. } = operand.layout {
        let outputs = cx.keep(id, items);
        let to = if at < axis { at } else { at + 1 };
        return cx.bind_outputs(id, &outputs, &[moved(operand.layout, to)]);
    }
    items[0] = Some(operand.item);
    let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}
