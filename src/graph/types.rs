//! Types as a model declares them (`TypeProto`, `ValueInfoProto`), kept to the letter.

use std::sync::Arc;

use super::Metadata;

/// One dimension of a declared shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredDim {
    /// `dim_value`; a negative one is a fault of the file (some old exporters write −1 or 0 for "free").
    Value(i64),
    /// `dim_param`: a name, or an expression over names that the exporter wrote out.
    Param(Arc<str>),
    Absent,
}

/// A dimension with its denotation (`DATA_BATCH`, …).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    pub dim: DeclaredDim,
    pub denotation: Option<Arc<str>>,
}

/// A declared shape; `None` where the rank is not declared.
pub type DeclaredShape = Option<Vec<Dimension>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A `TypeProto` without a value.
    Undefined,
    /// Element types are kept as the numbers written.
    Tensor {
        elem: Option<i32>,
        shape: DeclaredShape,
    },
    SparseTensor {
        elem: Option<i32>,
        shape: DeclaredShape,
    },
    Sequence(Option<Box<Type>>),
    Optional(Option<Box<Type>>),
    Map {
        key: Option<i32>,
        value: Option<Box<Type>>,
    },
    Opaque {
        domain: Option<Arc<str>>,
        name: Option<Arc<str>>,
    },
}

/// `TypeProto`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub kind: TypeKind,
    pub denotation: Option<Arc<str>>,
}

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Self {
        Type { kind, denotation: None }
    }
}

/// `ValueInfoProto` but for the name, which the value has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInfo {
    pub ty: Option<Type>,
    pub doc: Option<Arc<str>>,
    pub metadata: Metadata,
}
