//! Values and attributes of a call.

use std::sync::Arc;

use super::Array;

/// A runtime value: an input or output of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// A dense tensor.
    Tensor(Arc<Array>),
    /// A sequence of values.
    Sequence(Vec<Val>),
    /// An optional value, possibly empty.
    Optional(Option<Box<Val>>),
    /// Keys, as a one-dimensional tensor, and one value for each key.
    Map(Arc<Array>, Vec<Val>),
}

impl From<Array> for Val {
    fn from(array: Array) -> Val {
        Val::Tensor(Arc::new(array))
    }
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum Attr<'a> {
    Int(i64),
    Float(f32),
    Str(&'a [u8]),
    Tensor(Arc<Array>),
    Ints(&'a [i64]),
    Floats(&'a [f32]),
    Strs(Vec<&'a [u8]>),
    /// A value that kernels cannot read, such as a graph, a type or a sparse tensor.
    Other,
}

/// Attributes by name.
pub trait Attrs {
    /// Returns an attribute; `None` selects the default of the operator's specification.
    fn get(&self, name: &str) -> Option<Attr<'_>>;
}
