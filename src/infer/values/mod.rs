//! Inference of the elements of small tensors.
//!
//! Calls whose inputs are all constant are constant-folded if possible. Otherwise, the whole-number
//! elements of the outputs are tracked symbolically.

mod arithmetic;
mod fold;
mod moved;
#[cfg(test)]
mod tests;
mod width;

pub use fold::evaluate;

use super::fact::{ConstValue, Fact, TensorFact};
use super::load::MAX_ELEMENTS;
use super::ops::Cx;
use super::shape::{Shape, Size};
use crate::graph::ElemType;
use crate::graph::dim::Dim;

/// Infers the elements of the outputs; their shapes must be inferred already.
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

/// Returns true if the elements of an output are unknown, and may be few enough to be tracked.
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

/// Small tensor of integers, bools or whole floats. Unknown elements are `None`.
struct Ints {
    dims: Vec<usize>,
    elements: Vec<Size>,
}

impl Ints {
    /// Returns the elements of a tensor, or `None` if they cannot be tracked.
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

    /// Converts to the fact of a tensor, or returns `None` if elements of this type are not tracked.
    fn into_fact(self, elem: ElemType) -> Option<Fact> {
        followed(elem).then(|| TensorFact::ints(elem, &self.dims, self.elements).into())
    }
}

/// Returns true if elements of this type are tracked.
///
/// `float` and `double` are tracked because they represent all sizes that are common in models exactly.
fn followed(elem: ElemType) -> bool {
    elem.is_integer() || matches!(elem, ElemType::Bool | ElemType::Float | ElemType::Double)
}

/// Limit up to which `float` represents every whole number exactly (2²⁴).
const EXACT_IN_FLOAT: f64 = 16_777_216.0;

/// Converts a float to an integer, or returns `None` if the float is fractional, too large, or −0.
fn whole(x: f64) -> Size {
    let is_negative_zero = x == 0.0 && x.is_sign_negative();
    (x.fract() == 0.0 && x.abs() <= EXACT_IN_FLOAT && !is_negative_zero).then(|| Dim::known(x as i64))
}

/// Returns the dimensions of a static shape with at most [`MAX_ELEMENTS`] elements.
fn small(shape: &Shape) -> Option<Vec<usize>> {
    let dims = shape.to_static()?;
    let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))?;
    (count <= MAX_ELEMENTS).then_some(dims)
}
