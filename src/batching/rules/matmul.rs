//! Matrix products.

use super::super::cx::{Cx, It, Operand};
use super::super::layout::Layout;
use super::super::obstacle::{Result, unsupported};
use super::broadcast::aligned;
use super::{moved, only};
use crate::graph::{AttrValue, Attribute, NodeId};

/// Rewrites MatMul and MatMulInteger.
pub fn matmul(cx: &mut Cx, id: NodeId) -> Result<()> {
    only(cx, id, &[0, 1])?;
    product(cx, id, 0, 1)
}

/// Rewrites QLinearMatMul.
pub fn quantized(cx: &mut Cx, id: NodeId) -> Result<()> {
    only(cx, id, &[0, 3])?;
    product(cx, id, 0, 3)
}

/// Rewrites a product of the inputs at `left` and `right`, at least one of which is carried.
fn product(cx: &mut Cx, id: NodeId, left: usize, right: usize) -> Result<()> {
    let (a, b) = (cx.required(id, left)?, cx.required(id, right)?);
    let mut items = cx.inputs(id);
    if let Some(layout) = in_place(&a, &b)? {
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[layout]);
    }
    let (rank_a, rank_b) = (a.rank()?, b.rank()?);
    if rank_a == 0 || rank_b == 0 {
        return unsupported("a factor is a scalar");
    }
    let rank = rank_a.max(rank_b).max(2);
    let (row, column) = (rank_a == 1 && a.is_carried(), rank_b == 1 && b.is_carried());
    items[left] = Some(factor(cx, &a, rank, Some(1).filter(|_| row))?);
    items[right] = Some(factor(cx, &b, rank, Some(2).filter(|_| column))?);
    let outputs = cx.keep(id, items);
    let Some(Some(mut result)) = outputs.first().copied() else { return Ok(()) };
    if row && column {
        result = cx.squeeze(result, &[-2, -1])?;
    } else if row {
        result = cx.squeeze(result, &[-2])?;
    } else if column {
        result = cx.squeeze(result, &[-1])?;
    }
    cx.bind_outputs(id, &[Some(result)], &[Layout::Stacked])
}

/// Stacks the samples of a factor on a leading axis, unless all samples share the factor.
///
/// With `at`, the factor is a vector, which becomes a matrix with a new axis of size 1 at `at`.
fn factor(cx: &mut Cx, operand: &Operand, rank: usize, at: Option<i64>) -> Result<It> {
    if !operand.is_carried() {
        return Ok(operand.item);
    }
    match at {
        Some(at) => {
            let stacked = cx.stacked(operand)?;
            let matrix = cx.unsqueeze(stacked, &[at])?;
            let missing: Vec<i64> = (1..rank as i64 - 1).collect();
            cx.unsqueeze(matrix, &missing)
        }
        None => cx.padded(operand, rank),
    }
}

/// Returns the layout of the product if the samples can stay in their axis.
fn in_place(a: &Operand, b: &Operand) -> Result<Option<Layout>> {
    let (rank_a, rank_b) = (a.rank()?, b.rank()?);
    if rank_a == 1 && rank_b >= 2 && !a.is_carried() || rank_b == 1 && rank_a >= 2 && !b.is_carried() {
        return vector(a, b, rank_a, rank_b);
    }
    if rank_a < 2 || rank_b < 2 {
        return Ok(None);
    }
    let rank = rank_a.max(rank_b);
    let axis = |operand: &Operand| match operand.layout {
        Layout::Axis { axis, .. } => Some(axis),
        _ => None,
    };
    if a.is_carried() && !b.is_carried() && axis(a) == Some(rank_a - 2) {
        return Ok(Some(moved(a.layout, rank - 2)));
    }
    if b.is_carried() && !a.is_carried() && axis(b) == Some(rank_b - 1) {
        return Ok(Some(moved(b.layout, rank - 1)));
    }
    let is_batch = |operand: &Operand, rank: usize| {
        !operand.is_carried() || axis(operand).is_some_and(|axis| axis + 2 < rank)
    };
    match is_batch(a, rank_a) && is_batch(b, rank_b) {
        true => aligned(&[a.clone(), b.clone()], rank),
        false => Ok(None),
    }
}

/// Like [`in_place`], for a carried matrix and a shared vector.
fn vector(a: &Operand, b: &Operand, rank_a: usize, rank_b: usize) -> Result<Option<Layout>> {
    let (operand, rank, summed) = if rank_a == 1 { (b, rank_b, rank_b - 2) } else { (a, rank_a, rank_a - 1) };
    Ok(match operand.layout {
        Layout::Axis { axis, .. } if axis != summed => {
            let is_after = axis == rank - 1;
            Some(moved(operand.layout, if is_after { axis - 1 } else { axis }))
        }
        _ => None,
    })
}

/// Rewrites Gemm.
pub fn gemm(cx: &mut Cx, id: NodeId) -> Result<()> {
    let (a, b) = (cx.required(id, 0)?, cx.required(id, 1)?);
    let is_turned = |name| cx.int(id, name).unwrap_or(0) != 0;
    let (row, column) = (usize::from(is_turned("transA")), usize::from(!is_turned("transB")));
    let c = cx.operand(id, 2);
    let mut items = cx.inputs(id);
    let (at, operand, to) = match (a.is_carried(), b.is_carried()) {
        (true, false) => (0, &a, (row, 0)),
        (false, true) => (1, &b, (column, 1)),
        (true, true) => return both(cx, id, &a, &b, c.as_ref()),
        (false, false) => return both(cx, id, &a, &b, c.as_ref()),
    };
    let (item, layout) = cx.at_axis(operand, to.0)?;
    items[at] = Some(item);
    let layout = moved(layout, to.1);
    if let Some(c) = &c {
        let product = Operand { item, layout, dims: cx.out_dims(id), value: operand.value };
        let is_level = c.layout != Layout::Stacked && aligned(&[product, c.clone()], 2)?.is_some();
        if !is_level {
            return both(cx, id, &a, &b, Some(c));
        }
    }
    let outputs = cx.keep(id, items);
    cx.bind_outputs(id, &outputs, &[layout])
}

/// Replaces a Gemm by a batched MatMul, followed by an Add if the Gemm has an input C.
fn both(cx: &mut Cx, id: NodeId, a: &Operand, b: &Operand, c: Option<&Operand>) -> Result<()> {
    let turned = |cx: &mut Cx, operand: &Operand, name| -> Result<It> {
        let item = cx.stacked(operand)?;
        match cx.int(id, name).unwrap_or(0) {
            0 => Ok(item),
            _ => cx.transpose(item, &[0, 2, 1]),
        }
    };
    let scale = |cx: &Cx, name| {
        let attr = cx.model.nodes[id].attr(name).and_then(AttrValue::as_float);
        attr.unwrap_or(1.0)
    };
    if scale(cx, "alpha") != 1.0 || (c.is_some() && scale(cx, "beta") != 1.0) {
        return unsupported("its samples need a batched MatMul, which has no `alpha` or `beta`");
    }
    let (left, right) = (turned(cx, a, "transA")?, turned(cx, b, "transB")?);
    let mut result = cx.emit("MatMul", Vec::new(), &[left, right]);
    if let Some(c) = c {
        let summand = if c.is_carried() { cx.padded(c, 2)? } else { c.item };
        result = cx.emit("Add", Vec::new(), &[result, summand]);
    }
    cx.replace(id);
    cx.bind_outputs(id, &[Some(result)], &[Layout::Stacked])
}

/// Rewrites Einsum. Unless the node can be kept, a new letter in the equation denotes the sample axis.
pub fn einsum(cx: &mut Cx, id: NodeId) -> Result<()> {
    let equation = cx.model.nodes[id].attr("equation").and_then(AttrValue::as_str).map(str::to_owned);
    let Some(equation) = equation else { return unsupported("it has no equation") };
    let equation: String = equation.chars().filter(|letter| !letter.is_whitespace()).collect();
    let Some((inputs, output)) = equation.split_once("->") else {
        return unsupported("its equation has no explicit output");
    };
    let Some(letter) = ('a'..='z').chain('A'..='Z').find(|&letter| !equation.contains(letter)) else {
        return unsupported("its equation uses every letter");
    };
    if let Some((layout, items)) = einsum_in_place(cx, id, inputs, output)? {
        let outputs = cx.keep(id, items);
        return cx.bind_outputs(id, &outputs, &[layout]);
    }
    let (mut items, mut terms) = (Vec::new(), Vec::new());
    for (at, term) in inputs.split(',').enumerate() {
        let operand = cx.required(id, at)?;
        match operand.is_carried() {
            true => {
                items.push(Some(cx.stacked(&operand)?));
                terms.push(format!("{letter}{term}"));
            }
            false => {
                items.push(Some(operand.item));
                terms.push(term.to_owned());
            }
        }
    }
    let equation = format!("{}->{letter}{output}", terms.join(","));
    let attr = Attribute::new("equation", AttrValue::String(bytes::Bytes::from(equation)));
    let outputs = cx.remake(id, items, vec![attr], &[]);
    cx.bind_outputs(id, &outputs, &[Layout::Stacked])
}

/// Returns the layout of the output and the inputs, if an Einsum can keep its equation.
///
/// One letter must denote the sample axis in the output and the terms of all carried operands, and be in no other term.
fn einsum_in_place(
    cx: &mut Cx,
    id: NodeId,
    inputs: &str,
    output: &str,
) -> Result<Option<(Layout, Vec<Option<It>>)>> {
    if inputs.contains('.') || output.contains('.') {
        return Ok(None);
    }
    let mut found: Option<(char, Layout)> = None;
    let terms: Vec<&str> = inputs.split(',').collect();
    let mut operands = Vec::new();
    for at in 0..terms.len() {
        operands.push(cx.required(id, at)?);
    }
    for (term, operand) in terms.iter().zip(&operands) {
        let Layout::Axis { axis, .. } = operand.layout else {
            if operand.layout == Layout::Stacked {
                return Ok(None);
            }
            continue;
        };
        let Some(letter) = term.chars().nth(axis) else { return Ok(None) };
        let here = (letter, moved(operand.layout, 0));
        if found.is_some_and(|known| known != here) || term.matches(letter).count() != 1 {
            return Ok(None);
        }
        found = Some(here);
    }
    let Some((letter, layout)) = found else { return Ok(None) };
    let names = |term: &&str| term.contains(letter);
    let is_clear = terms.iter().zip(&operands).all(|(term, operand)| operand.is_carried() == names(term));
    let Some(axis) = output.chars().position(|other| other == letter).filter(|_| is_clear) else {
        return Ok(None);
    };
    let items = operands.iter().map(|operand| Some(operand.item)).collect();
    Ok(Some((moved(layout, axis), items)))
}
