//! Arguments and literals of the operators in a trace.

use std::sync::Arc;

use super::trace::ValueId;
use crate::graph::ElemType;

/// What an operator is given: a value that the graph computes, or a literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(ValueId),
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(Arc<str>),
    /// `torch.float32`.
    Elem(ElemType),
    None,
    List(Vec<Argument>),
    /// A constant tensor.
    Tensor(TensorLiteral),
    /// A literal that no rule asks about (a device, a layout, a subgraph), as it was written.
    Other(Arc<str>),
}

/// A constant tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorLiteral {
    pub elem: Option<ElemType>,
    pub shape: Option<Vec<i64>>,
    /// The elements in row-major order, where they were recorded: PyTorch prints up to ten of them, with
    /// some five digits.
    pub elements: Option<Vec<f64>>,
}

impl TensorLiteral {
    /// How many elements there are.
    pub fn len(&self) -> Option<usize> {
        let by_shape = || self.shape.as_ref().map(|shape| shape.iter().product::<i64>());
        let known = self.elements.as_ref().map(Vec::len);
        known.or_else(|| usize::try_from(by_shape()?).ok())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}
