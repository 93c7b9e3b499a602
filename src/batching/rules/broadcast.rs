//! Operators with broadcasting operands.

use super::super::cx::{Cx, It, Operand};
use super::super::layout::Layout;
use super::super::obstacle::{Result, unsupported};
use crate::graph::NodeId;

/// Rewrites a broadcasting operator.
/// The node is kept if the sample axes of the operands can align; otherwise, the samples are stacked.
pub fn broadcast(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.scope.opset < 7 {
        return unsupported("broadcasting before opset 7 is not supported");
    }
    let is_variadic = matches!(&*cx.model.nodes[id].op_type, "Max" | "Mean" | "Min" | "Sum");
    if is_variadic && cx.scope.opset < 8 {
        return unsupported("it does not broadcast before opset 8");
    }
    let values = cx.model.nodes[id].inputs.clone();
    let mut operands = Vec::new();
    for value in values.into_iter().flatten() {
        operands.push(cx.operand_of(value));
    }
    let mut rank = 0;
    for operand in &operands {
        rank = rank.max(operand.rank()?);
    }
    if cx.model.nodes[id].is("PRelu") && operands.first().is_none_or(|operand| !operand.is_carried()) {
        return unsupported("its slope differs between samples, but its input does not");
    }
    if let Some(layout) = aligned(&operands, rank)? {
        let items = operands.iter().map(|operand| Some(operand.item)).collect();
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[layout]);
    }
    if let Some((items, layout)) = repeated(cx, &operands, rank)? {
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[layout]);
    }
    let mut items: Vec<Option<It>> = Vec::new();
    for operand in &operands {
        items.push(Some(match operand.is_carried() {
            true => cx.padded(operand, rank)?,
            false => operand.item,
        }));
    }
    let outputs = cx.keep(id, items);
    let (Some(Some(item)), Some(layout)) = (outputs.first().copied(), folded(&operands, rank)?) else {
        return cx.bind_outputs(id, &outputs, &[Layout::Stacked]);
    };
    // The samples are moved back to their original axis.
    let Layout::Axis { axis, .. } = layout else { return Ok(()) };
    match cx.out_dims(id) {
        Some(dims) if dims.iter().all(Option::is_some) && !dims.contains(&Some(0)) => {
            let (item, layout) = cx.merged_at(item, &dims, axis)?;
            cx.bind_outputs(id, &[Some(item)], &[layout])
        }
        _ => cx.bind_outputs(id, &outputs, &[Layout::Stacked]),
    }
}

/// Returns the common layout of the carried operands, if it has axis 0, `pre` 1 and `post` > 1.
fn folded(operands: &[Operand], rank: usize) -> Result<Option<Layout>> {
    let mut found = None;
    for operand in operands.iter().filter(|operand| operand.is_carried()) {
        let Layout::Axis { axis, pre: 1, post } = operand.layout else { return Ok(None) };
        let here = Layout::Axis { axis: axis + rank - operand.rank()?, pre: 1, post };
        if post == 1
            || here != (Layout::Axis { axis: 0, pre: 1, post })
            || found.is_some_and(|known| known != here)
        {
            return Ok(None);
        }
        found = Some(here);
    }
    Ok(found)
}

/// Returns the layout of the result, or `None` if the sample axes of the operands do not align.
///
/// Sample axes align if they are the same axis of the result, with equal `pre` and `post`, and if every
/// shared operand either lacks this axis or has size 1 on it.
pub fn aligned(operands: &[Operand], rank: usize) -> Result<Option<Layout>> {
    let mut found: Option<Layout> = None;
    for operand in operands {
        let Layout::Axis { axis, pre, post } = operand.layout else {
            if operand.layout == Layout::Stacked {
                return Ok(None);
            }
            continue;
        };
        let here = Layout::Axis { axis: axis + rank - operand.rank()?, pre, post };
        if found.is_some_and(|known| known != here) {
            return Ok(None);
        }
        found = Some(here);
    }
    let Some(Layout::Axis { axis, .. }) = found else { return Ok(None) };
    for operand in operands.iter().filter(|operand| !operand.is_carried()) {
        let dims = operand.dims()?;
        let at = axis.checked_sub(rank - dims.len());
        if at.is_some_and(|at| dims[at] != Some(1)) {
            return Ok(None);
        }
    }
    Ok(found)
}

/// Replaces each shared constant that has equal slices for all traced samples by one slice.
///
/// Returns the new operands and the layout. Returns `None` if the traced batch size is 1, if the carried
/// operands do not align in an axis that only holds the samples, or if the size of this axis may exceed 1 in
/// another shared operand.
fn repeated(cx: &mut Cx, operands: &[Operand], rank: usize) -> Result<Option<(Vec<Option<It>>, Layout)>> {
    let carried: Vec<Operand> = operands.iter().filter(|operand| operand.is_carried()).cloned().collect();
    let traced = cx.samples.traced;
    let Some(layout @ Layout::Axis { axis, pre: 1, post: 1 }) = aligned(&carried, rank)? else {
        return Ok(None);
    };
    if traced == 1 {
        return Ok(None);
    }
    let mut items = Vec::new();
    for operand in operands {
        let dims = operand.dims()?;
        let at = axis.checked_sub(rank - dims.len()).filter(|&at| dims[at] != Some(1));
        let item = match at {
            Some(at) if !operand.is_carried() => match cx.one_of_equal(operand, at)? {
                Some(item) => item,
                None => return Ok(None),
            },
            _ => operand.item,
        };
        items.push(Some(item));
    }
    Ok(Some((items, layout)))
}

impl Cx<'_> {
    /// Returns one slice of a constant along `axis`, if all its slices are equal.
    fn one_of_equal(&mut self, operand: &Operand, axis: usize) -> Result<Option<It>> {
        let Some(array) = self.fact(operand.value).as_const().cloned() else { return Ok(None) };
        let shape = array.shape().to_vec();
        let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let outer: usize = shape[..axis].iter().product();
        let slice = |at: usize| -> Vec<usize> {
            (0..outer).flat_map(|block| (0..inner).map(move |i| (block * size + at) * inner + i)).collect()
        };
        let cut: Vec<usize> =
            shape.iter().enumerate().map(|(at, &dim)| if at == axis { 1 } else { dim }).collect();
        let Ok(first) = array.take(cut.clone(), &slice(0)) else { return Ok(None) };
        for at in 1..size {
            match array.take(cut.clone(), &slice(at)) {
                Ok(other) if crate::infer::same_bits(&first, &other) => {}
                _ => return Ok(None),
            }
        }
        let axis = self.vector(&[axis as i64])?;
        let (from, to) = (self.vector(&[0])?, self.vector(&[1])?);
        Ok(Some(self.emit("Slice", Vec::new(), &[operand.item, from, to, axis])))
    }
}
