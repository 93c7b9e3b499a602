//! Operators that have a batch axis.

use super::super::cx::{Cx, It, Operand};
use super::super::layout::Layout;
use super::super::obstacle::{Result, unsupported};
use super::{moved, only};
use crate::graph::NodeId;

/// Rewrites an operator of the family [`super::table::Family::Lead`].
pub fn lead(cx: &mut Cx, id: NodeId, inputs: &[(usize, usize)], outputs: &[usize]) -> Result<()> {
    only(cx, id, &inputs.iter().map(|&(input, _)| input).collect::<Vec<_>>())?;
    let mut items = cx.inputs(id);
    let layout = led(cx, id, inputs, &mut items)?;
    let made = cx.keep(id, items);
    let layouts: Vec<Layout> = outputs.iter().map(|&axis| moved(layout, axis)).collect();
    cx.bind_outputs(id, &made, &layouts)
}

/// Moves the samples of each input in `inputs` to its batch axis; returns the layout of the last one.
pub fn led(cx: &mut Cx, id: NodeId, inputs: &[(usize, usize)], items: &mut [Option<It>]) -> Result<Layout> {
    let mut operands: Vec<(usize, usize, Operand)> = Vec::new();
    for &(input, axis) in inputs {
        if let Some(operand) = cx.operand(id, input) {
            operands.push((input, axis, operand));
        }
    }
    let carried: Vec<&(usize, usize, Operand)> =
        operands.iter().filter(|(.., operand)| operand.is_carried()).collect();
    let native = |(_, axis, operand): &(usize, usize, Operand)| match operand.layout {
        Layout::Axis { axis: at, pre, post } if at == *axis => Some((pre, post)),
        _ => None,
    };
    let folds: Vec<Option<(i64, i64)>> = carried.iter().map(|&one| native(one)).collect();
    let same = folds
        .first()
        .copied()
        .flatten()
        .filter(|first| folds.iter().all(|fold| fold.as_ref() == Some(first)));
    let is_all = carried.len() == operands.len();
    let mut layout = Layout::Shared;
    for (input, axis, operand) in &operands {
        let (item, found) = match same {
            Some((pre, post)) if is_all || (pre, post) == (1, 1) => {
                let to = Layout::Axis { axis: *axis, pre, post };
                (cx.convert(operand, to)?, to)
            }
            _ => {
                let stacked = cx.spread(operand)?;
                cx.merged_at(stacked, operand.dims()?, *axis)?
            }
        };
        if layout.is_carried() && moved(layout, *axis) != found {
            return unsupported("its inputs hold the samples in different orders");
        }
        layout = found;
        items[*input] = Some(item);
    }
    Ok(layout)
}
