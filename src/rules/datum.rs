//! What attributes, constants and shapes are to the expressions of a rule.

use std::sync::Arc;

use crate::graph::dim::Dim;
use crate::graph::{AttrValue, ElemType, Tensor};

/// A value that an expression can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// An optional attribute that is not there (`<axes = @a?>`).
    Absent,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Elem(ElemType),
    /// A size or element that is no constant: those are [`Datum::Int`], see [`Datum::from`].
    Dim(Dim),
    List(Vec<Datum>),
    Tensor(Arc<Tensor>),
    /// An attribute that expressions can only hand on: a graph, a type, a sparse tensor.
    Other(AttrValue),
}

impl From<Dim> for Datum {
    fn from(dim: Dim) -> Self {
        dim.as_const().map_or(Datum::Dim(dim), Datum::Int)
    }
}
