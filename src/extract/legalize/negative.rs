//! Normalizes negative axes and indices.

use std::sync::Arc;

use super::Candidate;
use crate::egraph::ENode;
use crate::graph::{AttrValue, Attribute};
use crate::infer::eval::Array;
use crate::schema::Slot;

/// Normalizes an attribute of axes, using the rank of the first input.
/// For operators that add axes, the rank of the output is used.
pub(super) fn attribute(form: &mut Candidate, name: &str) -> bool {
    let op = form.egraph.analysis.tables.op(form.call.op).name.clone();
    let of_output = matches!(&*op, "Unsqueeze" | "OneHot" | "ConcatFromSequence");
    let counted = if of_output { Some(form.class) } else { form.call.children.first().copied() };
    let rank = counted.and_then(|value| form.egraph[value].data.fact().rank());
    let Some(rank) = rank.and_then(|rank| i64::try_from(rank).ok()) else { return false };
    let mut attrs = form.egraph.analysis.tables.attrs(form.call.attrs).to_vec();
    let Some(attr) = attrs.iter_mut().find(|attr| &*attr.name == name) else { return false };
    let counted = |axis: i64| if axis < 0 { axis + rank } else { axis };
    let value = match &attr.value {
        AttrValue::Int(axis) => AttrValue::Int(counted(*axis)),
        AttrValue::Ints(axes) => AttrValue::Ints(axes.iter().map(|&axis| counted(axis)).collect()),
        _ => return false,
    };
    *attr = Attribute::new(name, value);
    let children = form.call.children.to_vec();
    let variant = form.variant(attrs, children);
    united(form, variant)
}

/// Normalizes constant indices (or axes) in an input, if the indexed size (or rank) is static.
pub(super) fn input(form: &mut Candidate, slot: Slot) -> bool {
    let Slot::Input(at) = slot else { return false };
    let indices = form.egraph[form.call.children[at]].data.fact().as_const().cloned();
    let Some((indices, size)) = indices.zip(size_counted_in(form, at)) else { return false };
    let Ok(ints) = indices.as_i64s() else { return false };
    let ints = ints.into_iter().map(|int| i128::from(if int < 0 { int + size } else { int }));
    let Ok(array) = Array::from_ints(indices.elem(), indices.shape().to_vec(), ints.collect()) else {
        return false;
    };
    let Some(constant) = form.egraph.analysis.tables.intern_const(&Arc::new(array)) else { return false };
    let mut children = form.call.children.to_vec();
    children[at] = form.egraph.add(ENode::Const(constant));
    let attrs = form.egraph.analysis.tables.attrs(form.call.attrs).to_vec();
    let variant = form.variant(attrs, children);
    united(form, variant)
}

/// Returns the size that is added to negative numbers in an input.
/// For axes, the added size is the rank; for indices, it is the size of the indexed axis.
fn size_counted_in(form: &Candidate, at: usize) -> Option<i64> {
    let key = form.egraph.analysis.tables.op(form.call.op);
    let data = form.egraph[*form.call.children.first()?].data.fact();
    let rank = i64::try_from(data.rank()?).ok()?;
    match (&*key.name, at) {
        ("Gather" | "GatherElements" | "ScatterElements" | "Scatter", 1) => {
            let axis = form.egraph.analysis.tables.attr(form.call.attrs, "axis").and_then(AttrValue::as_int);
            let axis = axis.unwrap_or(0);
            let axis = if axis < 0 { axis + rank } else { axis };
            data.shape()?.dim(usize::try_from(axis).ok()?)?.as_const()
        }
        ("Slice", 3) => Some(rank),
        _ => None,
    }
}

fn united(form: &mut Candidate, variant: egg::Id) -> bool {
    if form.egraph.analysis.tables.is_single(form.call) {
        return form.unite(variant);
    }
    // The class of any other call is the tuple of its outputs, so merging two calls makes the outputs equal.
    form.egraph.union(form.class, variant)
}
