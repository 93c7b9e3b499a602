//! Facts: what is known of a value.

use std::fmt;
use std::sync::Arc;

use super::elements::Elements;
use super::eval::{Array, Buffer};
use super::shape::{Shape, Size};
use crate::graph::dim::Dim;
use crate::graph::{ElemType, TensorId};
use crate::schema::ValueType;

/// What is known of a value. More facts of one value are brought together by [`Fact::meet`], the facts
/// of several possible values by [`Fact::join`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Fact {
    /// Nothing at all, not even its kind.
    #[default]
    Unknown,
    /// A dense tensor.
    Tensor(TensorFact),
    /// A tensor in coordinate form; the shape is that of the dense one.
    SparseTensor(TensorFact),
    /// A sequence, with what holds of its elements.
    Sequence(Elements),
    /// With what holds of the element if there is one.
    Optional(Box<Fact>),
    /// A map.
    Map {
        /// The type of its keys, where known.
        key: Option<ElemType>,
        /// What holds of each of its values.
        value: Box<Fact>,
    },
    /// What only some runtime knows.
    Opaque,
}

/// What is known of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFact {
    /// The element type, where known.
    pub elem: Option<ElemType>,
    /// The shape, as far as known.
    pub shape: Shape,
    /// The elements, as far as known.
    pub value: ConstValue,
}

/// What is known of the elements of a tensor.
#[derive(Clone, Debug, Default)]
pub enum ConstValue {
    /// None of them.
    #[default]
    Nothing,
    /// All of them, in memory.
    Const(Arc<Array>),
    /// A constant that is not looked at: too large, or in another file.
    Weight(TensorId),
    /// A constant that is yet to be computed of others: weights that were scaled, joined, reshaped.
    Computed,
    /// The elements of a small tensor of integers (or bools, as 0 and 1), in row-major order, where
    /// not all are numbers: those would be `Const`. The shape is static.
    Ints(Arc<[Size]>),
}

impl PartialEq for ConstValue {
    /// Constants are compared bit by bit, so that one with a NaN equals itself.
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

/// Whether two constants are the same, to the bit.
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
    /// A tensor of whose elements nothing is known.
    pub fn new(elem: Option<ElemType>, shape: Shape) -> Self {
        TensorFact { elem, shape, value: ConstValue::Nothing }
    }

    /// A tensor whose elements are all known.
    pub fn constant(array: impl Into<Arc<Array>>) -> Self {
        let array = array.into();
        TensorFact {
            elem: Some(array.elem()),
            shape: Shape::known(array.shape()),
            value: ConstValue::Const(array),
        }
    }

    /// An integer (or bool) tensor of a static shape, of which these elements are known: a constant if
    /// they all are numbers that fit `elem`.
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

    /// The elements of a small integer or bool tensor, in row-major order, each as far as it is known.
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

    /// The elements, where all of them are in memory.
    pub fn as_const(&self) -> Option<&Arc<Array>> {
        if let ConstValue::Const(array) = &self.value { Some(array) } else { None }
    }

    /// Whether it is the same in every run, looked at or not.
    pub fn is_const(&self) -> bool {
        matches!(self.value, ConstValue::Const(_) | ConstValue::Weight(_) | ConstValue::Computed)
    }
}

/// These numbers as an array, if each is one of `elem`.
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
    /// A tensor of this element type and shape.
    pub fn tensor(elem: Option<ElemType>, shape: Shape) -> Self {
        Fact::Tensor(TensorFact::new(elem, shape))
    }

    /// A sequence of any number of elements of which this holds.
    pub fn sequence(of: Fact) -> Self {
        Fact::Sequence(Elements::any(of))
    }

    /// Something or nothing; `of` holds if it is something.
    pub fn optional(of: Fact) -> Self {
        Fact::Optional(Box::new(of))
    }

    /// The dense tensor that it is known to be.
    pub fn as_tensor(&self) -> Option<&TensorFact> {
        if let Fact::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// The element type of a dense or sparse tensor.
    pub fn elem(&self) -> Option<ElemType> {
        match self {
            Fact::Tensor(tensor) | Fact::SparseTensor(tensor) => tensor.elem,
            _ => None,
        }
    }

    /// Its type, as schemas build types; `None` for what none builds, and where it is not known.
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

    /// The element type of the tensors in it: of a tensor, of the elements of a sequence, …
    pub fn inner_elem(&self) -> Option<ElemType> {
        match self {
            Fact::Sequence(inner) => inner.inner_elem(),
            Fact::Optional(inner) => inner.inner_elem(),
            _ => self.elem(),
        }
    }

    /// The shape of a dense or sparse tensor; `None` for other kinds, and where the kind is unknown.
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            Fact::Tensor(tensor) | Fact::SparseTensor(tensor) => Some(&tensor.shape),
            _ => None,
        }
    }

    /// The number of axes of a tensor; `None` where it is unknown.
    pub fn rank(&self) -> Option<usize> {
        self.shape()?.rank()
    }

    /// The dims of a tensor; `None` where the rank is unknown.
    pub fn dims(&self) -> Option<&[Size]> {
        self.shape()?.dims()
    }

    /// As [`TensorFact::as_ints`].
    pub fn as_ints(&self) -> Option<Vec<Size>> {
        self.as_tensor()?.as_ints()
    }

    /// As [`TensorFact::as_const`].
    pub fn as_const(&self) -> Option<&Arc<Array>> {
        self.as_tensor()?.as_const()
    }

    /// Whether it is a constant, in memory or by reference.
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
    /// As ONNX text writes types: `float[batch, 4]`, `seq(float[...])`.
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
