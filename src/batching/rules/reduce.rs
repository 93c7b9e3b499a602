//! Operators that work along given axes, such as reductions, normalizations and TopK.

use super::super::cx::{Cx, It, Operand};
use super::super::emit::{attr_int, attr_ints};
use super::super::layout::Layout;
use super::super::obstacle::{Result, mixes, unknown};
use super::{moved, only_first};
use crate::graph::{Attribute, NodeId};
use crate::infer::eval::index;

/// Returns the axis that holds the samples in a [`Layout::Axis`], if it is not one of `axes`.
fn passes(operand: &Operand, axes: &[usize]) -> Option<usize> {
    match operand.layout {
        Layout::Axis { axis, .. } if !axes.contains(&axis) => Some(axis),
        _ => None,
    }
}

/// Emits a copy of a node with stacked samples as the first input, and with the attributes `attrs`.
fn shifted(cx: &mut Cx, id: NodeId, operand: &Operand, attrs: Vec<Attribute>) -> Result<Vec<Option<It>>> {
    let mut items = cx.inputs(id);
    items[0] = Some(cx.stacked(operand)?);
    Ok(cx.remake(id, items, attrs, &[]))
}

/// Keeps a node, and binds all its outputs to `layout`.
fn kept(cx: &mut Cx, id: NodeId, layout: Layout) -> Result<()> {
    let items = cx.inputs(id);
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Converts an axis to an index.
fn axis_of(axis: i64, rank: usize) -> Result<usize> {
    match index(axis, rank) {
        Some(axis) => Ok(axis),
        None => unknown("an axis is out of range"),
    }
}

/// Rewrites reductions.
pub fn reduce(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let is_input = cx.model.nodes[id].input(1).is_some();
    let given = match is_input {
        true => match cx.const_ints(id, 1) {
            Some(axes) => Some(axes),
            None => return unknown("its axes are not constant"),
        },
        false => cx.ints(id, "axes"),
    };
    let given = given.filter(|axes| !axes.is_empty());
    if given.is_none() && cx.int(id, "noop_with_empty_axes") == Some(1) {
        return kept(cx, id, operand.layout);
    }
    let mut axes = Vec::new();
    match &given {
        Some(given) => {
            for &axis in given {
                axes.push(axis_of(axis, rank)?);
            }
        }
        None => axes.extend(0..rank),
    }
    let keeps = cx.int(id, "keepdims").unwrap_or(1) != 0;
    if let Some(axis) = passes(&operand, &axes) {
        let gone = if keeps { 0 } else { axes.iter().filter(|&&other| other < axis).count() };
        return kept(cx, id, moved(operand.layout, axis - gone));
    }
    let stacked = cx.stacked(&operand)?;
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64 + 1).collect();
    if axes.is_empty() {
        return unknown("a reduction of a scalar cannot be computed per sample");
    }
    let op = cx.model.nodes[id].op_type.clone();
    let has_input = if &*op == "ReduceSum" { cx.scope.opset >= 13 } else { cx.scope.opset >= 18 };
    let outputs = match has_input {
        true => {
            let axes = cx.vector(&axes)?;
            cx.remake(id, vec![Some(stacked), Some(axes)], Vec::new(), &[])
        }
        false => cx.remake(id, vec![Some(stacked)], vec![attr_ints("axes", &axes)], &[]),
    };
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites ArgMax and ArgMin.
pub fn arg(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let axis = axis_of(cx.int(id, "axis").unwrap_or(0), operand.rank()?)?;
    if let Some(at) = passes(&operand, &[axis]) {
        let gone = usize::from(cx.int(id, "keepdims") == Some(0) && axis < at);
        return kept(cx, id, moved(operand.layout, at - gone));
    }
    let outputs = shifted(cx, id, &operand, vec![attr_int("axis", axis as i64 + 1)])?;
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites an operator that has an attribute `axis` and combines elements along the axes `covered`.
fn along(cx: &mut Cx, id: NodeId, axis: usize, covered: &[usize]) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    if passes(&operand, covered).is_some() {
        return kept(cx, id, operand.layout);
    }
    let outputs = shifted(cx, id, &operand, vec![attr_int("axis", axis as i64 + 1)])?;
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites Softmax, LogSoftmax and Hardmax.
pub fn softmax(cx: &mut Cx, id: NodeId) -> Result<()> {
    let rank = cx.required(id, 0)?.rank()?;
    let is_old = cx.scope.opset < 13;
    let axis = axis_of(cx.int(id, "axis").unwrap_or(if is_old { 1 } else { -1 }), rank)?;
    let covered: Vec<usize> = if is_old { (axis..rank).collect() } else { vec![axis] };
    along(cx, id, axis, &covered)
}

/// Rewrites LayerNormalization and RMSNormalization.
pub fn layer_norm(cx: &mut Cx, id: NodeId) -> Result<()> {
    let rank = cx.required(id, 0)?.rank()?;
    let axis = axis_of(cx.int(id, "axis").unwrap_or(-1), rank)?;
    along(cx, id, axis, &(axis..rank).collect::<Vec<_>>())
}

/// Rewrites LpNormalization.
pub fn lp_norm(cx: &mut Cx, id: NodeId) -> Result<()> {
    let rank = cx.required(id, 0)?.rank()?;
    let axis = axis_of(cx.int(id, "axis").unwrap_or(-1), rank)?;
    along(cx, id, axis, &[axis])
}

/// Rewrites TopK.
pub fn top_k(cx: &mut Cx, id: NodeId) -> Result<()> {
    lp_norm(cx, id)
}

/// Rewrites MeanVarianceNormalization.
pub fn mean_variance(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let axes = cx.ints(id, "axes").unwrap_or_else(|| vec![0, 2, 3]);
    let rank = operand.rank()?;
    let mut named = Vec::new();
    for &axis in &axes {
        named.push(axis_of(axis, rank)?);
    }
    if passes(&operand, &named).is_some() {
        return kept(cx, id, operand.layout);
    }
    // An axis of size 1 does not affect mean and deviation, so it can be removed from the axes.
    let Layout::Axis { axis, pre: 1, post: 1 } = operand.layout else {
        return mixes("the samples share an axis with other elements, or have been moved to a new axis");
    };
    if cx.samples.traced != 1 {
        return mixes("it normalizes over the samples");
    }
    let axes: Vec<i64> = named.iter().filter(|&&other| other != axis).map(|&axis| axis as i64).collect();
    let items = cx.inputs(id);
    let outputs = cx.remake(id, items, vec![attr_ints("axes", &axes)], &[]);
    cx.bind_outputs(id, &outputs, &[operand.layout])
}

/// Rewrites CumSum and CumProd.
pub fn cumulative(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let Some(&[axis]) = cx.const_ints(id, 1).as_deref() else {
        return unknown("its axis is not constant");
    };
    let axis = axis_of(axis, rank)?;
    if passes(&operand, &[axis]).is_some() {
        return kept(cx, id, operand.layout);
    }
    let stacked = cx.stacked(&operand)?;
    let axis = cx.scalar(axis as i64 + 1)?;
    let outputs = cx.keep(id, vec![Some(stacked), Some(axis)]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites QuantizeLinear and DequantizeLinear, except with scales of rank 2 or higher.
pub fn quantize(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let scale = cx.required(id, 1)?;
    if scale.rank()? == 0 || (scale.rank()? == 1 && scale.dims()? == [Some(1)]) {
        return kept(cx, id, operand.layout);
    }
    if scale.rank()? > 1 {
        return unknown("it has one scale per block");
    }
    let rank = operand.rank()?;
    let axis = axis_of(cx.int(id, "axis").unwrap_or(1), rank)?;
    along(cx, id, axis, &[axis])
}
