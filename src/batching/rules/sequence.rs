//! Sequences of tensors; the layout of a sequence is that of all its elements.

use super::super::cx::{Cx, Operand};
use super::super::emit::attr_int;
use super::super::layout::Layout;
use super::super::obstacle::{Result, unknown};
use super::{moved, only_first};
use crate::graph::NodeId;
use crate::infer::eval::index;

/// Returns the layout that all `operands` have, or [`Layout::Stacked`] if their layouts differ.
fn common(operands: &[Operand]) -> Layout {
    let first = operands.first().map_or(Layout::Stacked, |operand| operand.layout);
    match operands.iter().all(|operand| operand.layout == first) {
        true => first,
        false => Layout::Stacked,
    }
}

/// Rewrites SequenceConstruct.
pub fn construct(cx: &mut Cx, id: NodeId) -> Result<()> {
    let mut operands = Vec::new();
    for value in cx.model.nodes[id].inputs.clone().into_iter().flatten() {
        operands.push(cx.operand_of(value));
    }
    let layout = common(&operands);
    let mut items = Vec::new();
    for operand in &operands {
        items.push(Some(cx.convert(operand, layout)?));
    }
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Rewrites SequenceAt and SequenceErase.
pub fn at(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let sequence = cx.required(id, 0)?;
    let items = cx.inputs(id);
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[sequence.layout])
}

/// Rewrites SequenceLength; all samples share the number of elements.
pub fn length(cx: &mut Cx, id: NodeId) -> Result<()> {
    let items = cx.inputs(id);
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[Layout::Shared])
}

/// Rewrites SequenceInsert.
pub fn insert(cx: &mut Cx, id: NodeId) -> Result<()> {
    super::only(cx, id, &[0, 1])?;
    let (sequence, new) = (cx.required(id, 0)?, cx.required(id, 1)?);
    if !sequence.is_carried() {
        return unknown("it inserts a value that differs between samples into a sequence of shared values");
    }
    let mut items = cx.inputs(id);
    items[1] = Some(cx.convert(&new, sequence.layout)?);
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[sequence.layout])
}

/// Rewrites SplitToSequence.
pub fn split(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), operand.rank()?) else {
        return unknown("its axis is out of range");
    };
    let is_dropped = cx.int(id, "keepdims") == Some(0) && cx.model.nodes[id].input(1).is_none();
    let mut items = cx.inputs(id);
    match operand.layout {
        Layout::Axis { axis: at, .. } if at != axis => {
            let to = if is_dropped && axis < at { at - 1 } else { at };
            let outputs = cx.keep(id, items);
            cx.bind_outputs(id, &outputs, &[moved(operand.layout, to)])
        }
        _ => {
            items[0] = Some(cx.stacked(&operand)?);
            let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
            cx.bind_outputs(id, &outputs, &[Layout::Stacked])
        }
    }
}

/// Rewrites ConcatFromSequence.
pub fn concat(cx: &mut Cx, id: NodeId) -> Result<()> {
    let sequence = cx.required(id, 0)?;
    let Some(rank) = cx.out_dims(id).map(|dims| dims.len()) else {
        return unknown("the rank of its result is not known");
    };
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), rank) else {
        return unknown("its axis is out of range");
    };
    let is_new = cx.int(id, "new_axis") == Some(1);
    let items = cx.inputs(id);
    match sequence.layout {
        Layout::Axis { axis: at, .. } if is_new || at != axis => {
            let to = if is_new && axis <= at { at + 1 } else { at };
            let outputs = cx.keep(id, items);
            cx.bind_outputs(id, &outputs, &[moved(sequence.layout, to)])
        }
        Layout::Axis { .. } => unknown("it concatenates values along the sample axis"),
        _ => {
            let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
            cx.bind_outputs(id, &outputs, &[Layout::Stacked])
        }
    }
}
