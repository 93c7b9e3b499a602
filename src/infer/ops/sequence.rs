//! Sequences and optionals.

use super::Cx;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::infer::declared;
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::shape::{Shape, Size, known};

fn element_of(cx: &Cx, input: usize) -> Option<Fact> {
    match cx.fact(input)? {
        Fact::Sequence(of) => Some((**of).clone()),
        Fact::Optional(of) => match &**of {
            Fact::Sequence(of) => Some((**of).clone()),
            _ => None,
        },
        _ => None,
    }
}

/// `SequenceEmpty`.
pub fn empty(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem_attr("dtype").or(Some(ElemType::Float));
    cx.put(0, Fact::sequence(Fact::tensor(elem, Shape::UNKNOWN)));
    Some(())
}

/// `SequenceConstruct`: what holds of every input.
pub fn construct(cx: &mut Cx) -> Option<()> {
    let mut facts = (0..cx.inputs()).filter_map(|input| cx.fact(input)).cloned().map(Fact::without_values);
    let first = facts.next()?;
    let all = facts.fold(first, |all, fact| all.join(&fact, cx.bounds()));
    cx.put(0, Fact::sequence(all));
    Some(())
}

/// `SequenceInsert`: what holds of the elements and of the new one.
pub fn insert(cx: &mut Cx) -> Option<()> {
    let new = cx.fact(1)?.clone().without_values();
    let all = element_of(cx, 0)?.join(&new, cx.bounds());
    cx.put(0, Fact::sequence(all));
    Some(())
}

/// `SequenceErase`: the same sequence, with one element less.
pub fn erase(cx: &mut Cx) -> Option<()> {
    let fact = cx.fact(0)?.clone();
    cx.put(0, fact);
    Some(())
}

/// `SequenceAt`: one of the elements.
pub fn at(cx: &mut Cx) -> Option<()> {
    let fact = element_of(cx, 0)?;
    cx.put(0, fact);
    Some(())
}

/// `SplitToSequence`: parts along an axis, of one size only if they are equal.
pub fn split(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem(0);
    cx.put(0, Fact::sequence(Fact::tensor(elem, Shape::UNKNOWN)));
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(0, dims.len())?;
    if !cx.has(1) {
        if cx.int_or("keepdims", 1) == 0 {
            dims.remove(axis);
        } else {
            dims[axis] = known(1);
        }
    } else {
        dims[axis] = part_size(cx, &dims[axis]);
    }
    cx.put(0, Fact::sequence(Fact::tensor(elem, Shape::new(dims))));
    Some(())
}

/// The size of every part: that of a scalar split if it divides the axis, or the one size of a list.
fn part_size(cx: &Cx, size: &Size) -> Size {
    let sizes = cx.ints(1)?;
    let first = sizes.first()?.clone()?;
    let one_for_all = cx.rank(1)? == 0;
    let divides = || first.divides(size.as_ref()?, cx.bounds()).is_always().then_some(());
    if one_for_all {
        divides()?;
    }
    sizes.iter().all(|size| size.as_ref() == Some(&first)).then_some(first)
}

/// `ConcatFromSequence`: along an axis, or along a new one. How many elements there are is not known.
pub fn concat(cx: &mut Cx) -> Option<()> {
    let element = element_of(cx, 0)?;
    let elem = element.elem();
    cx.set_elem(0, elem);
    let mut dims = element.dims()?.to_vec();
    let new_axis = cx.flag("new_axis");
    let axis = cx.axis_attr(0, dims.len() + usize::from(new_axis))?;
    if new_axis {
        dims.insert(axis, None);
    } else {
        dims[axis] = dims[axis].clone().filter(|dim| dim.as_const() == Some(0));
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `OptionalHasElement`: true of what is no optional, false without an input.
pub fn has_element(cx: &mut Cx) -> Option<()> {
    let known = match cx.fact(0) {
        None => Some(false),
        Some(Fact::Tensor(_) | Fact::Sequence(_)) => Some(true),
        Some(_) => None,
    };
    let element = known.map(|has| Dim::known(has.into()));
    cx.put(0, TensorFact::ints(ElemType::Bool, &[], vec![element]).into());
    Some(())
}

/// `Optional`: of the input, or empty of the type that the attribute says.
pub fn optional(cx: &mut Cx) -> Option<()> {
    let inner = match (cx.fact(0), cx.attr("type")) {
        (Some(fact), _) => fact.clone().without_values(),
        (None, Some(crate::graph::AttrValue::Type(ty))) => declared::fact(ty, &mut |_, _| None),
        _ => Fact::Unknown,
    };
    cx.put(0, Fact::optional(inner));
    Some(())
}

/// `OptionalGetElement`: from opset 18 on also of what is no optional.
pub fn get_element(cx: &mut Cx) -> Option<()> {
    let fact = match cx.fact(0)? {
        Fact::Optional(of) => (**of).clone(),
        other => other.clone(),
    };
    cx.put(0, fact);
    Some(())
}
