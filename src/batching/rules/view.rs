//! Operators that move, insert, remove and repeat axes.

use super::super::cx::{Cx, It};
use super::super::emit::attr_ints;
use super::super::layout::Layout;
use super::super::obstacle::{Result, unknown, unsupported};
use super::{moved, only_first};
use crate::graph::NodeId;
use crate::infer::eval::index;

/// Returns the axes of a Squeeze or Unsqueeze, from an attribute or a constant input.
fn named_axes(cx: &Cx, id: NodeId) -> Result<Option<Vec<i64>>> {
    if cx.model.nodes[id].input(1).is_none() {
        return Ok(cx.ints(id, "axes"));
    }
    match cx.const_ints(id, 1) {
        Some(axes) => Ok(Some(axes)),
        None => unknown("its axes are not constant"),
    }
}

/// Rewrites Squeeze.
pub fn squeeze(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let dims = operand.dims()?.to_vec();
    let mut axes = Vec::new();
    match named_axes(cx, id)? {
        Some(named) => {
            for axis in named {
                match index(axis, dims.len()) {
                    Some(axis) => axes.push(axis),
                    None => return unknown("an axis is out of range"),
                }
            }
        }
        None => {
            if dims.contains(&None) {
                return unknown("it removes all axes of size 1, but not all sizes are known");
            }
            axes.extend((0..dims.len()).filter(|&axis| dims[axis] == Some(1)));
        }
    }
    axes.sort_unstable();
    match operand.layout {
        Layout::Axis { axis, .. } if !axes.contains(&axis) => {
            let dropped: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
            let item = cx.view_for(id, "Squeeze", operand.item, &dropped)?;
            let gone = axes.iter().filter(|&&other| other < axis).count();
            cx.bind_outputs(id, &[Some(item)], &[moved(operand.layout, axis - gone)])
        }
        Layout::Axis { axis, .. } => {
            if cx.samples.traced != 1 {
                return unknown("it removes the batch axis");
            }
            // The node removes the sample axis from the old shape, so the sample axis becomes the leading axis.
            let perm: Vec<usize> =
                std::iter::once(axis).chain((0..dims.len()).filter(|&other| other != axis)).collect();
            let item = cx.transpose(operand.item, &perm)?;
            let others = axes.iter().filter(|&&other| other != axis);
            let dropped: Vec<i64> = others.map(|&other| (other + usize::from(other < axis)) as i64).collect();
            let item = match item == operand.item && dropped.is_empty() {
                true => cx.emit("Identity", Vec::new(), &[item]),
                false => cx.view_for(id, "Squeeze", item, &dropped)?,
            };
            cx.replace(id);
            cx.bind_outputs(id, &[Some(item)], &[Layout::Stacked])
        }
        _ => {
            let dropped: Vec<i64> = axes.iter().map(|&axis| axis as i64 + 1).collect();
            let item = cx.view_for(id, "Squeeze", operand.item, &dropped)?;
            cx.bind_outputs(id, &[Some(item)], &[Layout::Stacked])
        }
    }
}

impl Cx<'_> {
    /// Replaces a node by a new Squeeze or Unsqueeze (`op`), or by an Identity if there are no axes.
    fn view_for(&mut self, id: NodeId, op: &'static str, item: It, axes: &[i64]) -> Result<It> {
        self.replace(id);
        match axes.is_empty() {
            true => Ok(self.emit("Identity", Vec::new(), &[item])),
            false => self.axes_node(op, item, axes),
        }
    }
}

/// Rewrites Unsqueeze.
pub fn unsqueeze(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let Some(named) = named_axes(cx, id)? else { return unknown("its axes are missing") };
    let rank = operand.rank()? + named.len();
    let mut axes = Vec::new();
    for axis in named {
        match index(axis, rank) {
            Some(axis) => axes.push(axis),
            None => return unknown("an axis is out of range"),
        }
    }
    axes.sort_unstable();
    axes.dedup();
    match operand.layout {
        Layout::Axis { axis, .. } => {
            let mut left = (0..rank).filter(|axis| !axes.contains(axis));
            let Some(to) = left.nth(axis) else { return unknown("an axis is out of range") };
            let added: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
            let item = cx.view_for(id, "Unsqueeze", operand.item, &added)?;
            cx.bind_outputs(id, &[Some(item)], &[moved(operand.layout, to)])
        }
        // The leading sample axis stands for the added axis 0, so only the other axes are added.
        _ if axes.first() == Some(&0) => {
            let added: Vec<i64> = axes[1..].iter().map(|&axis| axis as i64).collect();
            let item = cx.view_for(id, "Unsqueeze", operand.item, &added)?;
            cx.bind_outputs(id, &[Some(item)], &[Layout::plain(0)])
        }
        _ => {
            let added: Vec<i64> = axes.iter().map(|&axis| axis as i64 + 1).collect();
            let item = cx.view_for(id, "Unsqueeze", operand.item, &added)?;
            cx.bind_outputs(id, &[Some(item)], &[Layout::Stacked])
        }
    }
}

/// Rewrites Transpose.
pub fn transpose(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let perm = cx.ints(id, "perm").unwrap_or_else(|| (0..rank as i64).rev().collect());
    match operand.layout {
        Layout::Axis { axis, .. } => {
            let Some(to) = perm.iter().position(|&from| index(from, rank) == Some(axis)) else {
                return unknown("its permutation does not match its input");
            };
            let outputs = cx.keep(id, vec![Some(operand.item)]);
            cx.bind_outputs(id, &outputs, &[moved(operand.layout, to)])
        }
        _ => {
            let perm: Vec<i64> = std::iter::once(0).chain(perm.iter().map(|axis| axis + 1)).collect();
            let outputs = cx.remake(id, vec![Some(operand.item)], vec![attr_ints("perm", &perm)], &[]);
            cx.bind_outputs(id, &outputs, &[Layout::Stacked])
        }
    }
}

/// Rewrites Expand.
pub fn expand(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let shape = cx.required(id, 1)?;
    let target = cx.const_ints(id, 1);
    let rank = match (&target, cx.out_dims(id)) {
        (Some(target), _) => target.len().max(operand.rank()?),
        (None, Some(dims)) => dims.len(),
        (None, None) => return unknown("the rank of its result is not known"),
    };
    if let (Layout::Axis { axis, pre, post }, Some(target)) = (operand.layout, &target) {
        let to = axis + rank - operand.rank()?;
        let old = pre * post * cx.samples.traced;
        let asked = to.checked_sub(rank - target.len()).map(|at| (at, target[at]));
        match asked {
            None | Some((_, 1)) => {
                let outputs = cx.keep(id, vec![Some(operand.item), Some(shape.item)]);
                return cx.bind_outputs(id, &outputs, &[moved(operand.layout, to)]);
            }
            Some((at, size)) if size == old => {
                let mut target = target.clone();
                target[at] = 1;
                let target = cx.vector(&target)?;
                let outputs = cx.keep(id, vec![Some(operand.item), Some(target)]);
                return cx.bind_outputs(id, &outputs, &[moved(operand.layout, to)]);
            }
            _ => {}
        }
    }
    let item = cx.padded(&operand, rank)?;
    let one = cx.vector(&[1])?;
    let shape = match &target {
        Some(target) => {
            let ones = std::iter::repeat_n(1, rank + 1 - target.len());
            let target: Vec<i64> = ones.chain(target.iter().copied()).collect();
            cx.vector(&target)?
        }
        None if shape.dims()? == [Some(rank as i64)] => cx.join(&[one, shape.item]),
        None => return unknown("its target shape is not known"),
    };
    let outputs = cx.keep(id, vec![Some(item), Some(shape)]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Rewrites Tile.
pub fn tile(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let Some(repeats) = cx.const_ints(id, 1) else {
        return unknown("its repeats are not constant");
    };
    if repeats.len() != operand.rank()? {
        return unsupported("its repeats do not match the rank of its input");
    }
    if let Layout::Axis { axis, .. } = operand.layout
        && repeats[axis] == 1
    {
        let inputs = cx.inputs(id);
        let outputs = cx.keep(id, inputs);
        return cx.bind_outputs(id, &outputs, &[operand.layout]);
    }
    let stacked = cx.stacked(&operand)?;
    let repeats: Vec<i64> = std::iter::once(1).chain(repeats).collect();
    let repeats = cx.vector(&repeats)?;
    let outputs = cx.keep(id, vec![Some(stacked), Some(repeats)]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}
