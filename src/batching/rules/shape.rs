//! Shape and Size, and operators with special constraints on the batch axis.

use super::super::cx::Cx;
use super::super::layout::Layout;
use super::super::obstacle::{Result, mixes, unknown, unsupported};
use super::{lead, moved, only, only_first};
use crate::graph::NodeId;
use crate::infer::Array;

/// Rewrites a Shape to return the shape in the traced model, whatever the number of samples.
pub fn shape(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let whole = cx.emit("Shape", Vec::new(), &[operand.item]);
    let (from, to) = bounds(cx, id, rank);
    let item = match operand.layout {
        Layout::Axis { axis, pre, post } => {
            let old = pre * post * cx.samples.traced;
            let mask: Vec<bool> = (0..rank).map(|at| at == axis).collect();
            let Ok(mask) = Array::bools(vec![rank], mask) else {
                return unsupported("a constant cannot be created");
            };
            let mask_item = cx.new_item(operand.value);
            cx.scope.patch.constant(mask_item, &mask);
            let old = cx.vector(&[old])?;
            cx.emit("Where", Vec::new(), &[mask_item, old, whole])
        }
        _ => {
            let at: Vec<i64> = (1..=rank as i64).collect();
            let at = cx.vector(&at)?;
            cx.emit("Gather", vec![super::super::emit::attr_int("axis", 0)], &[whole, at])
        }
    };
    let item = match (from, to) == (0, rank) {
        true => item,
        false => {
            let at: Vec<i64> = (from as i64..to as i64).collect();
            let at = cx.vector(&at)?;
            cx.emit("Gather", vec![super::super::emit::attr_int("axis", 0)], &[item, at])
        }
    };
    cx.replace(id);
    cx.bind_outputs(id, &[Some(item)], &[Layout::Shared])
}

/// Returns the range of axes whose sizes a Shape node returns.
fn bounds(cx: &Cx, id: NodeId, rank: usize) -> (usize, usize) {
    let at = |name, default: i64| {
        let at = cx.int(id, name).unwrap_or(default);
        let at = if at < 0 { at + rank as i64 } else { at };
        at.clamp(0, rank as i64) as usize
    };
    let (from, to) = (at("start", 0), at("end", rank as i64));
    (from, to.max(from))
}

/// Rewrites a Size to return the number of elements in the traced model.
pub fn size(cx: &mut Cx, id: NodeId) -> Result<()> {
    let operand = cx.required(id, 0)?;
    let whole = cx.emit("Size", Vec::new(), &[operand.item]);
    let size = cx.size()?;
    let size = cx.squeeze(size, &[0])?;
    let each = cx.emit("Div", Vec::new(), &[whole, size]);
    let traced = cx.scalar(cx.samples.traced)?;
    let item = cx.emit("Mul", Vec::new(), &[each, traced]);
    cx.replace(id);
    cx.bind_outputs(id, &[Some(item)], &[Layout::Shared])
}

/// Rewrites Trilu.
pub fn trilu(cx: &mut Cx, id: NodeId) -> Result<()> {
    only_first(cx, id)?;
    let operand = cx.required(id, 0)?;
    let rank = operand.rank()?;
    let mut items = cx.inputs(id);
    let layout = match operand.layout {
        Layout::Axis { axis, .. } if axis + 2 < rank => operand.layout,
        _ => {
            items[0] = Some(cx.stacked(&operand)?);
            Layout::Stacked
        }
    };
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Rewrites MaxPool.
pub fn max_pool(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.model.nodes[id].output(1).is_some() {
        return mixes("its second output has indices into all samples");
    }
    lead::lead(cx, id, &[(0, 0)], &[0])
}

/// Rewrites an operator of ai.onnx.ml on a matrix with one row per sample.
pub fn rows(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.required(id, 0)?.rank()? != 2 {
        return unsupported("its input is not a matrix with one row per sample");
    }
    lead::lead(cx, id, &[(0, 0)], &[0])
}

/// Rewrites BatchNormalization.
pub fn batch_normalization(cx: &mut Cx, id: NodeId) -> Result<()> {
    let outputs = cx.model.nodes[id].outputs.iter().flatten().count();
    if cx.int(id, "training_mode") == Some(1) || outputs > 1 {
        return mixes("it computes mean and variance over all samples, as in training mode");
    }
    lead::lead(cx, id, &[(0, 0)], &[0])
}

/// Rewrites GRU, LSTM and RNN; the batch axis of a sequence is axis 1, or axis 0 with `layout` 1.
pub fn recurrent(cx: &mut Cx, id: NodeId) -> Result<()> {
    /// Inputs with their batch axes, for `layout` 0.
    const SECOND: &[(usize, usize)] = &[(0, 1), (4, 0), (5, 1), (6, 1)];
    /// Inputs with their batch axes, for `layout` 1.
    const FIRST: &[(usize, usize)] = &[(0, 0), (4, 0), (5, 0), (6, 0)];
    match cx.int(id, "layout").unwrap_or(0) {
        0 => lead::lead(cx, id, SECOND, &[2, 1, 1]),
        _ => lead::lead(cx, id, FIRST, &[0, 0, 0]),
    }
}

/// Rewrites Attention.
/// A shared mask must broadcast over the batch axis; any other mask must hold the samples as the inputs do.
pub fn attention(cx: &mut Cx, id: NodeId) -> Result<()> {
    const ALL: &[(usize, usize)] = &[(0, 0), (1, 0), (2, 0), (4, 0), (5, 0)];
    only(cx, id, &[0, 1, 2, 3, 4, 5])?;
    let mut items = cx.inputs(id);
    let layout = lead::led(cx, id, ALL, &mut items)?;
    if let Some(mask) = cx.operand(id, 3) {
        let leads = mask.rank()? == 4;
        let is_fit = match mask.layout {
            Layout::Shared => !leads || mask.dims()?[0] == Some(1),
            other => leads && other == layout,
        };
        if !is_fit {
            return unknown("its mask does not match the samples of its inputs");
        }
    }
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[moved(layout, 0)])
}
