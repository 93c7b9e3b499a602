//! Facts: statically inferred properties of values.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::eval::{Array, Buffer};
use super::shape::{Shape, Size};
use crate::graph::dim::Dim;
use crate::graph::{ElemType, TensorId};
use crate::schema::ValueType;

/// Inferred properties of a value.
///
/// [`Fact::meet`] combines several facts of one value. [`Fact::join`] combines the facts of alternative values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Fact {
    /// A value of unknown kind.
    #[default]
    Unknown,
    /// A dense tensor.
    Tensor(TensorFact),
    /// A sparse tensor in coordinate format, with its dense shape.
    SparseTensor(TensorFact),
    /// A sequence, with the facts of its elements.
    Sequence(Elements),
    /// An optional, with a fact that holds for its element if it has one.
    Optional(Box<Fact>),
    /// A map.
    Map {
        /// Element type of the keys; `None` if unknown.
        key: Option<ElemType>,
        /// Fact that holds for each value of the map.
        value: Box<Fact>,
    },
    /// A value of an opaque, runtime-specific type.
    Opaque,
}

/// Inferred properties of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFact {
    /// Element type; `None` if unknown.
    pub elem: Option<ElemType>,
    /// Shape, possibly unknown in part.
    pub shape: Shape,
    /// Elements, possibly unknown in part.
    pub value: ConstValue,
}

/// Constant or symbolic elements of a tensor.
#[derive(Clone, Debug, Default)]
pub enum ConstValue {
    /// No element is known.
    #[default]
    Nothing,
    /// All elements, in memory.
    Const(Arc<Array>),
    /// A tensor of the model whose elements are not loaded, for example because it is large or external.
    Weight(TensorId),
    /// A constant that is not computed yet, such as a scaled, concatenated or reshaped weight.
    Computed,
    /// Whole-number elements of a small tensor of static shape, in row-major order. Bools are 0 or 1.
    ///
    /// If all elements are numbers that the element type represents exactly, the tensor is `Const` instead.
    Ints(Arc<[Size]>),
}

/// Facts about the elements of a sequence: a common fact and, if tracked, one fact per element.
///
/// Only sequences of at most [`MAX_FOLLOWED`](super::elements::MAX_FOLLOWED) elements have one fact per element.
/// The type dereferences to the common fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    pub(super) any: Box<Fact>,
    pub(super) each: Option<Arc<[Fact]>>,
}

impl Elements {
    /// Returns the element facts of a sequence of unknown length; `fact` holds for every element.
    pub fn any(fact: Fact) -> Self {
        Elements { any: Box::new(fact), each: None }
    }
}

impl Deref for Elements {
    type Target = Fact;

    fn deref(&self) -> &Fact {
        &self.any
    }
}

impl PartialEq for ConstValue {
    /// Compares real floats bitwise, so that a constant with a NaN equals itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ConstValue::Nothing, ConstValue::Nothing) | (ConstValue::Computed, ConstValue::Computed) => true,
            (ConstValue::Const(a), ConstValue::Const(b)) => Arc::ptr_eq(a, b) || same_bits(a, b),
            (ConstValue::Weight(a), ConstValue::Weight(b)) => a == b,
            (ConstValue::Ints(a), ConstValue::Ints(b)) => a == b,
            _ => false,
        }
    }
}

/// Returns true if two constants have the same element type and shape, and equal elements.
/// Real floats are compared bitwise.
pub(crate) fn same_bits(a: &Array, b: &Array) -> bool {
    if a.elem() != b.elem() || a.shape() != b.shape() {
        return false;
    }
    match (a.data(), b.data()) {
        (Buffer::F32(a), Buffer::F32(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
        (Buffer::F64(a), Buffer::F64(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
        (Buffer::F16(a), Buffer::F16(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
        (Buffer::Bf16(a), Buffer::Bf16(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
        (a, b) => a == b,
    }
}

impl TensorFact {
    /// Returns the fact of a tensor with unknown elements.
    pub fn new(elem: Option<ElemType>, shape: Shape) -> Self {
        TensorFact { elem, shape, value: ConstValue::Nothing }
    }

    /// Returns the fact of a constant tensor.
    pub fn constant(array: impl Into<Arc<Array>>) -> Self {
        let array = array.into();
        TensorFact {
            elem: Some(array.elem()),
            shape: Shape::known(array.shape()),
            value: ConstValue::Const(array),
        }
    }

    /// Returns the fact of a tensor of static shape with these whole-number elements; bools are 0 or 1.
    ///
    /// The tensor is constant if all elements are numbers that `elem` represents exactly.
    pub fn ints(elem: ElemType, dims: &[usize], elements: Vec<Size>) -> Self {
        let shape = Shape::known(dims);
        let numbers: Option<Vec<i64>> = elements.iter().map(|size| size.as_ref()?.as_const()).collect();
        let array = numbers.and_then(|numbers| exact(elem, dims, &numbers));
        let value = match array {
            Some(array) => ConstValue::Const(Arc::new(array)),
            None if elements.iter().all(Option::is_none) => ConstValue::Nothing,
            None => ConstValue::Ints(elements.into()),
        };
        TensorFact { elem: Some(elem), shape, value }
    }

    /// Returns the elements of a constant integer or bool tensor, or of [`ConstValue::Ints`].
    /// The elements are in row-major order; unknown elements are `None`.
    pub fn as_ints(&self) -> Option<Vec<Size>> {
        match &self.value {
            ConstValue::Ints(elements) => Some(elements.to_vec()),
            ConstValue::Const(array) if array.elem().is_integer() || array.elem() == ElemType::Bool => {
                let ints = array.as_i64s().ok()?;
                Some(ints.into_iter().map(|int| Some(Dim::known(int))).collect())
            }
            _ => None,
        }
    }

    /// Returns the elements of a constant in memory.
    pub fn as_const(&self) -> Option<&Arc<Array>> {
        if let ConstValue::Const(array) = &self.value { Some(array) } else { None }
    }

    /// Returns true if the tensor is constant, whether or not its elements are loaded.
    pub fn is_const(&self) -> bool {
        matches!(self.value, ConstValue::Const(_) | ConstValue::Weight(_) | ConstValue::Computed)
    }
}

/// Returns an array of these numbers, if `elem` represents each of them exactly.
fn exact(elem: ElemType, dims: &[usize], numbers: &[i64]) -> Option<Array> {
    let wide = numbers.iter().map(|&number| i128::from(number)).collect();
    let array = Array::from_ints(elem, dims.to_vec(), wide).ok()?;
    let back = if elem.is_float() { None } else { array.as_i64s().ok() };
    match back {
        Some(back) => (back == numbers).then_some(array),
        None => array.f64s().ok()?.iter().zip(numbers).all(|(&x, &n)| x == n as f64).then_some(array),
    }
}

impl Fact {
    /// Returns the fact of a tensor of this element type and shape.
    pub fn tensor(elem: Option<ElemType>, shape: Shape) -> Self {
        Fact::Tensor(TensorFact::new(elem, shape))
    }

    /// Returns the fact of a sequence of any length, whose elements all satisfy `of`.
    pub fn sequence(of: Fact) -> Self {
        Fact::Sequence(Elements::any(of))
    }

    /// Returns the fact of an optional whose element, if present, satisfies `of`.
    pub fn optional(of: Fact) -> Self {
        Fact::Optional(Box::new(of))
    }

    /// Returns the fact of a dense tensor, or `None` if the value is not known to be one.
    pub fn as_tensor(&self) -> Option<&TensorFact> {
        if let Fact::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// Returns the element type of a dense or sparse tensor.
    pub fn elem(&self) -> Option<ElemType> {
        match self {
            Fact::Tensor(tensor) | Fact::SparseTensor(tensor) => tensor.elem,
            _ => None,
        }
    }

    /// Returns the type; `None` for unknown types and types that [`ValueType`] lacks, such as maps.
    pub fn value_type(&self) -> Option<ValueType> {
        Some(match self {
            Fact::Tensor(tensor) => ValueType::Tensor(tensor.elem?),
            Fact::SparseTensor(tensor) => ValueType::SparseTensor(tensor.elem?),
            Fact::Sequence(of) => ValueType::Sequence(of.as_tensor()?.elem?),
            Fact::Optional(of) => match &**of {
                Fact::Sequence(of) => ValueType::OptionalSequence(of.as_tensor()?.elem?),
                of => ValueType::Optional(of.as_tensor()?.elem?),
            },
            Fact::Unknown | Fact::Map { .. } | Fact::Opaque => return None,
        })
    }

    /// Returns the element type of a tensor, or of the tensors inside a sequence or optional.
    pub fn inner_elem(&self) -> Option<ElemType> {
        match self {
            Fact::Sequence(inner) => inner.inner_elem(),
            Fact::Optional(inner) => inner.inner_elem(),
            _ => self.elem(),
        }
    }

    /// Returns the shape of a dense or sparse tensor, or `None` for values of any other or unknown kind.
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            Fact::Tensor(tensor) | Fact::SparseTensor(tensor) => Some(&tensor.shape),
            _ => None,
        }
    }

    /// Returns the rank of a tensor, or `None` if the rank is unknown.
    pub fn rank(&self) -> Option<usize> {
        self.shape()?.rank()
    }

    /// Returns the dimensions of a tensor, or `None` if the rank is unknown.
    pub fn dims(&self) -> Option<&[Size]> {
        self.shape()?.dims()
    }

    /// Like [`TensorFact::as_ints`], but returns `None` if the value is not a dense tensor.
    pub fn as_ints(&self) -> Option<Vec<Size>> {
        self.as_tensor()?.as_ints()
    }

    /// Like [`TensorFact::as_const`], but returns `None` if the value is not a dense tensor.
    pub fn as_const(&self) -> Option<&Arc<Array>> {
        self.as_tensor()?.as_const()
    }

    /// Returns true if the value is a constant dense tensor, whether or not its elements are loaded.
    pub fn is_const(&self) -> bool {
        self.as_tensor().is_some_and(TensorFact::is_const)
    }
}

impl From<TensorFact> for Fact {
    fn from(tensor: TensorFact) -> Self {
        Fact::Tensor(tensor)
    }
}

impl fmt::Display for Fact {
    /// Formats the type similarly to ONNX text, such as `float[batch, 4]` or `seq(float[...])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Unknown => f.write_str("?"),
            Fact::Tensor(tensor) => tensor.fmt(f),
            Fact::SparseTensor(tensor) => write!(f, "sparse_tensor({tensor})"),
            Fact::Sequence(of) => write!(f, "seq({})", **of),
            Fact::Optional(of) => write!(f, "optional({of})"),
            Fact::Map { key, value } => write!(f, "map({}, {value})", key.map_or("?", ElemType::name)),
            Fact::Opaque => f.write_str("opaque"),
        }
    }
}

impl fmt::Display for TensorFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.elem.map_or("?", ElemType::name), self.shape)
    }
}
