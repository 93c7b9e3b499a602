//! The elements of small tensors: folded where all inputs are constants, else followed symbolically where
//! they are integers.

mod arithmetic;
mod fold;
mod moved;
#[cfg(test)]
mod tests;
mod width;

use super::fact::{ConstValue, Fact, TensorFact};
use super::load::MAX_ELEMENTS;
use super::ops::Cx;
use super::shape::{Shape, Size};
use crate::graph::ElemType;
use crate::graph::dim::Dim;

/// Fills in what is known of the elements of the outputs, after their shapes.
pub(super) fn elements(cx: &mut Cx) {
    let any_known = (0..cx.inputs()).any(|input| {
        cx.tensor(input)
            .is_some_and(|tensor| matches!(tensor.value, ConstValue::Const(_) | ConstValue::Ints(_)))
    });
    let any_small = cx.outs.iter().any(may_be_small);
    if !any_known || !any_small {
        return;
    }
    let found = fold::fold(cx).or_else(|| moved::moved(cx)).or_else(|| arithmetic::computed(cx));
    for (output, fact) in found.into_iter().flatten().enumerate() {
        let agreed = cx.outs.get(output).and_then(|out| out.meet(&fact, cx.bounds()).ok());
        if let Some(fact) = agreed {
            cx.put(output, fact);
        }
    }
}

/// Whether the output may have so few elements that they are followed, and its elements are not known yet.
fn may_be_small(fact: &Fact) -> bool {
    match fact {
        Fact::Tensor(tensor) => {
            let few = |dims: &[Size]| dims.iter().flatten().filter_map(Dim::as_const).all(fits);
            matches!(tensor.value, ConstValue::Nothing) && tensor.shape.dims().is_none_or(few)
        }
        Fact::Unknown => true,
        _ => false,
    }
}

fn fits(dim: i64) -> bool {
    dim <= MAX_ELEMENTS as i64
}

/// A small tensor of integers, each as far as it is known. Floats count if they are whole numbers.
struct Ints {
    dims: Vec<usize>,
    elements: Vec<Size>,
}

impl Ints {
    /// `None` if the tensor is not small, or not of a static shape, or not of numbers.
    fn of(tensor: &TensorFact) -> Option<Ints> {
        let dims = small(&tensor.shape)?;
        let elements = match &tensor.value {
            ConstValue::Ints(elements) => elements.to_vec(),
            ConstValue::Const(array) if array.elem().is_float() => {
                array.f64s().ok()?.into_iter().map(whole).collect()
            }
            ConstValue::Const(_) => tensor.as_ints()?,
            _ => vec![None; dims.iter().product()],
        };
        Some(Ints { dims, elements })
    }

    fn any_known(&self) -> bool {
        self.elements.iter().any(Option::is_some)
    }

    /// As a tensor of this element type; nothing for types whose arithmetic is not that of integers.
    fn into_fact(self, elem: ElemType) -> Option<Fact> {
        followed(elem).then(|| TensorFact::ints(elem, &self.dims, self.elements).into())
    }
}

/// The element types that are followed: `float` and `double` hold every size that occurs exactly.
fn followed(elem: ElemType) -> bool {
    elem.is_integer() || matches!(elem, ElemType::Bool | ElemType::Float | ElemType::Double)
}

/// Whole numbers beyond this are not exact in `float`.
const EXACT_IN_FLOAT: f64 = 16_777_216.0;

/// A float as an integer; −0 is none.
fn whole(x: f64) -> Size {
    let is_negative_zero = x == 0.0 && x.is_sign_negative();
    (x.fract() == 0.0 && x.abs() <= EXACT_IN_FLOAT && !is_negative_zero).then(|| Dim::known(x as i64))
}

/// The dims of a static shape with few elements.
fn small(shape: &Shape) -> Option<Vec<usize>> {
    let dims = shape.to_static()?;
    let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))?;
    (count <= MAX_ELEMENTS).then_some(dims)
}
