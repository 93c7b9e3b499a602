//! Concat, Split, Slice and Pad.

use super::super::cx::{Cx, Operand};
use super::super::emit::{attr_int, attr_ints};
use super::super::layout::Layout;
use super::super::obstacle::{Result, fixes, unknown};
use super::only_first;
use crate::graph::NodeId;
use crate::infer::eval::index;

/// Rewrites Concat.
pub fn concat(cx: &mut Cx, id: NodeId) -> Result<()> {
    let values = cx.model.nodes[id].inputs.clone();
    let mut operands: Vec<Operand> = Vec::new();
    for value in values.into_iter().flatten() {
        operands.push(cx.operand_of(value));
    }
    let mut rank = 0;
    for operand in &operands {
        rank = rank.max(operand.rank()?);
    }
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(1), rank) else {
        return unknown("its axis is out of range");
    };
    let first = operands.iter().find(|operand| operand.is_carried()).map(|operand| operand.layout);
    if let Some(layout @ Layout::Axis { axis: at, .. }) = first
        && at != axis
        && operands.iter().all(|operand| !operand.is_carried() || operand.layout == layout)
    {
        let mut items = Vec::new();
        for operand in &operands {
            items.push(Some(cx.convert(operand, layout)?));
        }
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[layout]);
    }
    let mut items = Vec::new();
    for operand in &operands {
        items.push(Some(cx.spread(operand)?));
    }
    let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites Split.
pub fn split(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), operand.rank()?) else {
        return unknown("its axis is out of range");
    };
    let mut items = cx.inputs(id);
    match operand.layout {
        Layout::Axis { axis: at, .. } if at != axis => {
            let outputs = cx.keep(id, items);
            cx.bind_outputs(id, &outputs, &[operand.layout])
        }
        _ => {
            items[0] = Some(cx.stacked(&operand)?);
            let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
            cx.bind_outputs(id, &outputs, &[Layout::Stacked])
        }
    }
}

/// Constant ranges of a Slice; a field is `None` if its operand is not constant.
struct Cut {
    starts: Option<Vec<i64>>,
    ends: Option<Vec<i64>>,
    axes: Vec<usize>,
    steps: Option<Vec<i64>>,
    /// Whether the ranges are attributes, as before opset 10.
    is_attr: bool,
}

/// Returns the ranges of a Slice.
fn cut(cx: &mut Cx, id: NodeId, rank: usize) -> Result<Cut> {
    let is_attr = cx.scope.opset < 10;
    let get = |cx: &Cx, at: usize, name: &str| match is_attr {
        true => cx.ints(id, name),
        false => cx.const_ints(id, at),
    };
    let (starts, ends) = (get(cx, 1, "starts"), get(cx, 2, "ends"));
    let named = get(cx, 3, "axes");
    let is_absent = if is_attr { named.is_none() } else { cx.model.nodes[id].input(3).is_none() };
    let count = match (&starts, cx.model.nodes[id].input(1)) {
        (Some(starts), _) => Some(starts.len()),
        (None, Some(value)) => {
            cx.dims(value).and_then(|dims| dims.first().copied().flatten()).map(|n| n as usize)
        }
        _ => None,
    };
    let named = match (named, is_absent, count) {
        (Some(named), ..) => named,
        (None, true, Some(count)) => (0..count as i64).collect(),
        _ => return unknown("its axes are not constant"),
    };
    let mut axes = Vec::new();
    for axis in named {
        match index(axis, rank) {
            Some(axis) => axes.push(axis),
            None => return unknown("an axis is out of range"),
        }
    }
    let steps = match !is_attr && cx.model.nodes[id].input(4).is_some() {
        true => cx.const_ints(id, 4),
        false => Some(vec![1; axes.len()]),
    };
    Ok(Cut { starts, ends, axes, steps, is_attr })
}

/// Rewrites Slice.
pub fn slice(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let cut = cut(cx, id, operand.rank()?)?;
    let mut items = cx.inputs(id);
    let at = match operand.layout {
        Layout::Axis { axis, .. } => cut.axes.iter().position(|&other| other == axis),
        _ => None,
    };
    let Layout::Axis { axis, .. } = operand.layout else {
        return shifted(cx, id, &operand, &cut);
    };
    let Some(at) = at else {
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[operand.layout]);
    };
    let size = operand.dims()?[axis];
    let get = |list: &Option<Vec<i64>>| list.as_ref().and_then(|list| list.get(at)).copied();
    let is_all = get(&cut.starts) == Some(0)
        && get(&cut.steps) == Some(1)
        && size.is_some_and(|size| get(&cut.ends).is_some_and(|end| end >= size));
    if is_all && let Some(ends) = &cut.ends {
        let mut ends = ends.clone();
        ends[at] = i64::MAX;
        let outputs = match cut.is_attr {
            true => cx.remake(id, items, vec![attr_ints("ends", &ends)], &[]),
            false => {
                // Starts and ends must have the same type, and the new ends are int64.
                let is_int32 = cx.model.nodes[id].input(2).and_then(|value| cx.fact(value).elem())
                    == Some(crate::graph::ElemType::Int32);
                if is_int32 {
                    return shifted(cx, id, &operand, &cut);
                }
                items[2] = Some(cx.vector(&ends)?);
                cx.keep(id, items)
            }
        };
        return cx.bind_outputs(id, &outputs, &[operand.layout]);
    }
    if cx.samples.traced != 1 {
        return fixes("it selects samples by index");
    }
    shifted(cx, id, &operand, &cut)
}

/// Rewrites a Slice of `operand` to slice the stacked samples.
fn shifted(cx: &mut Cx, id: NodeId, operand: &Operand, cut: &Cut) -> Result<()> {
    let stacked = cx.stacked(operand)?;
    let axes: Vec<i64> = cut.axes.iter().map(|&axis| axis as i64 + 1).collect();
    let mut items = cx.inputs(id);
    items[0] = Some(stacked);
    let outputs = match cut.is_attr {
        true => cx.remake(id, items, vec![attr_ints("axes", &axes)], &[]),
        false => {
            let is_int32 = cx.model.nodes[id].input(1).and_then(|value| cx.fact(value).elem())
                == Some(crate::graph::ElemType::Int32);
            let mut named = cx.vector(&axes)?;
            if is_int32 {
                named = cx.emit("Cast", vec![attr_int("to", 6)], &[named]);
            }
            items.resize(items.len().max(4), None);
            items[3] = Some(named);
            cx.keep(id, items)
        }
    };
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites Pad.
pub fn pad(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let is_attr = cx.scope.opset < 11;
    let pads = if is_attr { cx.ints(id, "pads") } else { cx.const_ints(id, 1) };
    let Some(pads) = pads else { return unknown("its pads are not constant") };
    let axes = match cx.model.nodes[id].input(3) {
        Some(_) => match cx.const_ints(id, 3) {
            Some(axes) => axes,
            None => return unknown("its axes are not constant"),
        },
        None => (0..rank as i64).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return unknown("the number of pads does not match the number of axes");
    }
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (at, &axis) in axes.iter().enumerate() {
        let Some(axis) = index(axis, rank) else { return unknown("an axis is out of range") };
        (before[axis], after[axis]) = (pads[at], pads[at + axes.len()]);
    }
    let mut items = cx.inputs(id);
    if let Layout::Axis { axis, .. } = operand.layout
        && before[axis] == 0
        && after[axis] == 0
    {
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[operand.layout]);
    }
    items[0] = Some(cx.stacked(&operand)?);
    let pads: Vec<i64> = [0].into_iter().chain(before).chain([0]).chain(after).collect();
    let outputs = match is_attr {
        true => cx.remake(id, items, vec![attr_ints("pads", &pads)], &[]),
        false => {
            items[1] = Some(cx.vector(&pads)?);
            items.truncate(3);
            cx.keep(id, items)
        }
    };
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}
