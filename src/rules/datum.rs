//! Values of rule expressions: attributes, constants and dimensions.

use std::sync::Arc;

use crate::graph::dim::Dim;
use crate::graph::{AttrValue, ElemType, Tensor};

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Absent attribute.
    ///
    /// The attribute is optional (`<axes = @a?>`), or the chosen alternative does not bind it.
    Absent,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Elem(ElemType),
    /// Dimension or element that is not constant; constants are [`Datum::Int`], see [`Datum::from`].
    Dim(Dim),
    List(Vec<Datum>),
    Tensor(Arc<Tensor>),
    /// Attribute that expressions can only pass on, such as a graph, a type or a sparse tensor.
    Other(AttrValue),
}

impl From<Dim> for Datum {
    fn from(dim: Dim) -> Self {
        dim.as_const().map_or(Datum::Dim(dim), Datum::Int)
    }
}
