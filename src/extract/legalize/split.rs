//! Converts Split between opsets. Rules cannot convert Split, because it has any number of outputs.
//!
//! The sizes are an attribute in opsets 2 to 12, and an input since opset 13. Equal parts are requested by
//! omitting the sizes and, since opset 18, by `num_outputs` (where the last part may be smaller).

use std::sync::Arc;

use egg::Id;

use super::Candidate;
use crate::egraph::ENode;
use crate::graph::{AttrValue, Attribute};
use crate::infer::eval::Array;

/// Specification of the output sizes of a `Split`.
enum Cut {
    /// Constant sizes.
    Sizes(Vec<i64>),
    /// Sizes computed at run time.
    Computed(Id),
    /// Equal parts, one per output.
    Equal,
}

/// Adds a variant of a `Split` call with the semantics of version `epoch`, those of the target opset.
pub(super) fn convert(form: &mut Candidate, epoch: u16) -> bool {
    let Some(cut) = cut(form) else { return false };
    let axis = form.egraph.analysis.tables.attr(form.call.attrs, "axis").and_then(AttrValue::as_int);
    let mut attrs = vec![Attribute::new("axis", AttrValue::Int(axis.unwrap_or(0)))];
    let mut children = vec![form.call.children[0]];
    match (cut, epoch) {
        (Cut::Sizes(sizes), 2) => attrs.push(Attribute::new("split", AttrValue::Ints(sizes))),
        (Cut::Sizes(sizes), 13 | 18) => {
            let Some(sizes) = constant(form, &sizes) else { return false };
            children.push(sizes);
        }
        (Cut::Computed(sizes), 13 | 18) => children.push(sizes),
        (Cut::Equal, 2 | 13) => {}
        (Cut::Equal, 18) => {
            let parts = AttrValue::Int(i64::from(form.call.outputs));
            attrs.push(Attribute::new("num_outputs", parts));
        }
        _ => return false,
    }
    let outputs = form.call.outputs;
    let Some(call) = form.egraph.analysis.tables.call_of("Split", Some(epoch), attrs, children, outputs)
    else {
        return false;
    };
    let variant = form.add(ENode::Call(call));
    form.egraph.union(form.class, variant)
}

fn cut(form: &Candidate) -> Option<Cut> {
    let tables = &form.egraph.analysis.tables;
    if let Some(sizes) = tables.attr(form.call.attrs, "split").and_then(AttrValue::as_ints) {
        return Some(Cut::Sizes(sizes.to_vec()));
    }
    if let Some(&sizes) = form.call.children[..usize::from(form.call.inputs)].get(1) {
        let known = form.egraph[sizes].data.fact().as_const().and_then(|array| array.as_i64s().ok());
        return Some(known.map_or(Cut::Computed(sizes), Cut::Sizes));
    }
    if let Some(sizes) = sizes_of_outputs(form) {
        return Some(Cut::Sizes(sizes));
    }
    // Before opset 18, a size that is not divisible by the number of parts was an error. Since opset
    // 18, the last part may be smaller than the others, even if `num_outputs` is omitted.
    let is_always_equal = tables.op(form.call.op).epoch.is_some_and(|epoch| epoch < 18);
    is_always_equal.then_some(Cut::Equal)
}

/// Returns the sizes of the outputs along the axis, if they are static.
fn sizes_of_outputs(form: &Candidate) -> Option<Vec<i64>> {
    let axis =
        form.egraph.analysis.tables.attr(form.call.attrs, "axis").and_then(AttrValue::as_int).unwrap_or(0);
    let size = |index: u16| {
        let output = form.egraph.lookup(ENode::Output { index, call: [form.class] })?;
        let shape = form.egraph[output].data.fact().shape()?;
        let rank = i64::try_from(shape.rank()?).ok()?;
        let axis = if axis < 0 { axis + rank } else { axis };
        shape.dim(usize::try_from(axis).ok()?)?.as_const()
    };
    (0..form.call.outputs).map(size).collect()
}

fn constant(form: &mut Candidate, sizes: &[i64]) -> Option<Id> {
    let array = Array::i64s(vec![sizes.len()], sizes.to_vec()).ok()?;
    let constant = form.egraph.analysis.tables.intern_const(&Arc::new(array))?;
    Some(form.egraph.add(ENode::Const(constant)))
}
