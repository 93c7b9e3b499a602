//! Conversions from tensors and attributes of a model to facts and evaluator values.

use super::eval::{Array, Attr};
use super::fact::{ConstValue, Fact, TensorFact};
use super::shape::Shape;
use crate::graph::{AttrValue, Tensor, TensorData, TensorId};

/// Maximum number of elements of a constant that a fact stores in memory.
pub const MAX_ELEMENTS: usize = 1024;

/// Returns the fact of a tensor, with the elements of a small tensor, or the ID of any other tensor.
///
/// Returns `None` if the element type or the dimensions are invalid.
pub fn tensor(tensor: &Tensor, id: TensorId) -> Option<Fact> {
    let elem = tensor.elem()?;
    if tensor.len()? <= MAX_ELEMENTS
        && let Some(array) = array(tensor)
    {
        return Some(TensorFact::constant(array).into());
    }
    let shape = Shape::known(&tensor.dims);
    Some(Fact::Tensor(TensorFact { elem: Some(elem), shape, value: ConstValue::Weight(id) }))
}

/// Returns the elements of a tensor, or `None` if the elements are unavailable or invalid.
pub fn array(tensor: &Tensor) -> Option<Array> {
    let elem = tensor.elem()?;
    let dims: Vec<usize> = tensor.dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<_>>()?;
    match &tensor.data {
        TensorData::Strings(strings) => {
            Array::strings(dims, strings.iter().map(|string| string.to_vec()).collect()).ok()
        }
        TensorData::Absent => Array::zeros(elem, dims).ok().filter(Array::is_empty),
        _ => Array::from_raw(elem, dims, &tensor.packed()?).ok(),
    }
}

/// Returns the common value of all elements of a tensor as a scalar.
///
/// Returns `None` for strings, if the elements differ or are unavailable, and if the tensor is empty or has
/// elements narrower than a byte.
pub fn filling(tensor: &Tensor) -> Option<Array> {
    let (elem, raw) = (tensor.elem()?, tensor.packed()?);
    let size = elem.bits()? / 8;
    let (first, others) = raw.split_at_checked(size).filter(|_| size > 0)?;
    let is_whole = tensor.len()?.checked_mul(size) == Some(raw.len());
    let is_full = is_whole && others.chunks(size).all(|other| other == first);
    is_full.then(|| Array::from_raw(elem, Vec::new(), first).ok())?
}

/// Converts an array to a tensor of a model.
pub fn tensor_of(array: &Array) -> Tensor {
    let dims = array.shape().iter().map(|&dim| dim as i64).collect();
    let data = match (array.to_raw(), array.as_strings()) {
        (Some(raw), _) => TensorData::Raw(raw.into()),
        (None, Ok(strings)) => TensorData::Strings(strings.iter().map(|s| s.clone().into()).collect()),
        (None, Err(_)) => TensorData::Absent,
    };
    Tensor::new(array.elem(), dims, data)
}

/// Converts an attribute for the evaluator: numbers, strings, and lists of them.
///
/// Any other value, such as a tensor or a graph, becomes [`Attr::Other`]. Returns `None` for a reference to a
/// function attribute.
pub fn attr(value: &AttrValue) -> Option<Attr<'_>> {
    Some(match value {
        AttrValue::Int(int) => Attr::Int(*int),
        AttrValue::Float(float) => Attr::Float(*float),
        AttrValue::String(string) => Attr::Str(string),
        AttrValue::Ints(ints) => Attr::Ints(ints),
        AttrValue::Floats(floats) => Attr::Floats(floats),
        AttrValue::Strings(strings) => Attr::Strs(strings.iter().map(|string| &**string).collect()),
        AttrValue::Ref { .. } => return None,
        _ => Attr::Other,
    })
}
