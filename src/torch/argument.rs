//! Arguments of operators in a trace.

use std::sync::Arc;

use super::id::ValueId;
use crate::graph::ElemType;

/// An argument of an operator: a value of the graph, or a literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(ValueId),
    Int(i64),
    Float(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
    Bool(bool),
    Str(Arc<str>),
    /// A dtype, such as `torch.float32`.
    Elem(ElemType),
    None,
    List(Vec<Argument>),
    /// A constant tensor.
    Tensor(TensorLiteral),
    /// A literal that no rule reads (a device, a layout, a subgraph), as text.
    Other(Arc<str>),
}

/// A constant tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorLiteral {
    pub elem: Option<ElemType>,
    pub shape: Option<Vec<i64>>,
    /// Elements in row-major order, if recorded; they may be rounded.
    pub elements: Option<Vec<f64>>,
}

impl TensorLiteral {
    /// Returns the number of elements, if it is known.
    pub fn len(&self) -> Option<usize> {
        let by_shape = || self.shape.as_ref().map(|shape| shape.iter().product::<i64>());
        let known = self.elements.as_ref().map(Vec::len);
        known.or_else(|| usize::try_from(by_shape()?).ok())
    }

    /// Returns true if the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}
