//! Values and attributes, as a caller hands them over.

use std::sync::Arc;

use super::Array;

/// A value that flows along an edge.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Tensor(Arc<Array>),
    Sequence(Vec<Val>),
    Optional(Option<Box<Val>>),
    /// Keys (a tensor of one dimension) and as many values.
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
    /// A graph, a type, a sparse tensor or a list of them: no kernel reads one.
    Other,
}

/// Attributes by name. One that is absent takes the default of the operator's specification.
pub trait Attrs {
    fn get(&self, name: &str) -> Option<Attr<'_>>;
}
