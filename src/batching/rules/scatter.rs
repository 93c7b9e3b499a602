//! ScatterElements and ScatterND: each sample is updated independently.

use super::super::cx::Cx;
use super::super::emit::attr_int;
use super::super::layout::Layout;
use super::super::obstacle::{Result, unknown, unsupported};
use crate::graph::NodeId;
use crate::infer::eval::index;

/// Rewrites ScatterElements and Scatter.
pub fn scatter_elements(cx: &mut Cx, id: NodeId) -> Result<()> {
    let (data, at, new) = (cx.required(id, 0)?, cx.required(id, 1)?, cx.required(id, 2)?);
    let Some(axis) = index(cx.int(id, "axis").unwrap_or(0), data.rank()?) else {
        return unknown("its axis is out of range");
    };
    if let Layout::Axis { axis: carried, .. } = data.layout
        && data.layout == at.layout
        && data.layout == new.layout
        && carried != axis
    {
        let inputs = cx.inputs(id);
        let outputs = cx.keep(id, inputs);
        return cx.bind_outputs(id, &outputs, &[data.layout]);
    }
    let items = vec![Some(cx.spread(&data)?), Some(cx.spread(&at)?), Some(cx.spread(&new)?)];
    let outputs = cx.remake(id, items, vec![attr_int("axis", axis as i64 + 1)], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites ScatterND by prefixing each index with the number of its sample.
pub fn scatter_nd(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.scope.opset < 11 {
        return unsupported("its rewrite requires Range, which opset 11 introduced");
    }
    let (data, at, new) = (cx.required(id, 0)?, cx.required(id, 1)?, cx.required(id, 2)?);
    let Some(wide) = at.rank()?.checked_sub(1) else { return unknown("its indices are a scalar") };
    if cx.samples.traced != 1 && (data.is_carried() || at.is_carried() || new.is_carried()) {
        return unsupported("it updates samples by index");
    }
    let (data, new) = (cx.spread(&data)?, cx.spread(&new)?);
    let spread = cx.spread(&at)?;
    let size = cx.size()?;
    let count = cx.squeeze(size, &[0])?;
    let (zero, one) = (cx.scalar(0)?, cx.scalar(1)?);
    let numbers = cx.emit("Range", Vec::new(), &[zero, count, one]);
    let axes: Vec<i64> = (1..=wide as i64 + 1).collect();
    let numbers = cx.unsqueeze(numbers, &axes)?;
    // Expand the sample numbers to the shape of the indices, with a last dimension of 1.
    let shape = cx.emit("Shape", Vec::new(), &[spread]);
    let keep: Vec<i64> = (0..=wide as i64).collect();
    let keep = cx.vector(&keep)?;
    let shape = cx.emit("Gather", vec![attr_int("axis", 0)], &[shape, keep]);
    let last = cx.vector(&[1])?;
    let shape = cx.join(&[shape, last]);
    let numbers = cx.expand(numbers, shape)?;
    let at = cx.emit("Concat", vec![attr_int("axis", -1)], &[numbers, spread]);
    let outputs = cx.keep(id, vec![Some(data), Some(at), Some(new)]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}
