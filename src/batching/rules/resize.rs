//! Resize, Upsample and AffineGrid, whose sizes or scales can include the batch axis.

use super::super::cx::{Cx, It};
use super::super::emit::attr_int;
use super::super::layout::Layout;
use super::super::obstacle::{Result, fixes, mixes, unknown};
use super::only_first;
use crate::graph::{AttrValue, NodeId};
use crate::infer::eval::index;

/// Rewrites Resize and Upsample.
pub fn resize(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let dims = operand.dims()?.to_vec();
    let (item, layout) = cx.at_axis(&operand, 0)?;
    let mut items = cx.inputs(id);
    items[0] = Some(item);
    let old = dims.first().copied().flatten();
    let named = cx.ints(id, "axes");
    let is_resized =
        named.as_ref().is_none_or(|axes| axes.iter().any(|&axis| index(axis, dims.len()) == Some(0)));
    let sizes = cx.model.nodes[id].input(3).filter(|_| cx.scope.opset >= 11);
    let policy = cx.model.nodes[id].attr("keep_aspect_ratio_policy").and_then(AttrValue::as_str);
    if is_resized && policy.is_some_and(|policy| policy != "stretch") {
        return mixes("it keeps the aspect ratio of several axes, including the batch axis");
    }
    if is_resized {
        match sizes {
            Some(_) if named.is_some() => {
                return unknown("its axes include the batch axis");
            }
            Some(_) => {
                let Some(sizes) = cx.const_ints(id, 3) else { return unknown("its sizes are not constant") };
                if sizes.first().copied() != old {
                    return fixes("it resizes the batch axis");
                }
                items[3] = Some(with_batch(cx, item, &sizes)?);
            }
            None => {
                let is_kept = scales(cx, id).is_some_and(|scales| scales.first() == Some(&1.0));
                if !is_kept {
                    return unknown("the scale of the batch axis is not known to be 1");
                }
            }
        }
    }
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Returns `sizes`, but with the first dimension of `item` as the first size.
fn with_batch(cx: &mut Cx, item: It, sizes: &[i64]) -> Result<It> {
    let shape = cx.emit("Shape", Vec::new(), &[item]);
    let first = cx.vector(&[0])?;
    let batch = cx.emit("Gather", vec![attr_int("axis", 0)], &[shape, first]);
    let rest = cx.vector(&sizes[1..])?;
    Ok(cx.join(&[batch, rest]))
}

/// Returns the scales, if they are known.
fn scales(cx: &Cx, id: NodeId) -> Option<Vec<f64>> {
    let node = &cx.model.nodes[id];
    if let Some(AttrValue::Floats(scales)) = node.attr("scales") {
        return Some(scales.iter().map(|&scale| f64::from(scale)).collect());
    }
    let at = if cx.scope.opset >= 11 { 2 } else { 1 };
    cx.fact(node.input(at)?).as_const()?.f64s().ok()
}

/// Rewrites AffineGrid.
pub fn affine_grid(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let Some(size) = cx.const_ints(id, 1) else { return unknown("its size is not constant") };
    let (item, layout) = cx.at_axis(&operand, 0)?;
    let size = with_batch(cx, item, &size)?;
    let outputs = cx.keep(id, vec![Some(item), Some(size)]);
    cx.bind_outputs(
        id,
        &outputs,
        &[match layout {
            Layout::Axis { pre, post, .. } => Layout::Axis { axis: 0, pre, post },
            other => other,
        }],
    )
}
