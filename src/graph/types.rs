//! Declared types (`TypeProto`, `ValueInfoProto`), exactly as written.

use std::sync::Arc;

use super::metadata::Metadata;

/// One dimension of a declared shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredDim {
    /// `dim_value`. Negative values are invalid; some old exporters write −1 or 0 for a dynamic axis.
    Value(i64),
    /// `dim_param`: a name, or an expression over names.
    Param(Arc<str>),
    /// Neither a number nor a name: any size.
    Absent,
}

/// A dimension with its denotation (`DATA_BATCH`, …).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// Size of the axis.
    pub dim: DeclaredDim,
    /// Declared meaning of the axis.
    pub denotation: Option<Arc<str>>,
}

/// A declared shape; `None` if the rank is not declared.
pub type DeclaredShape = Option<Vec<Dimension>>;

/// Kind of a type, without its denotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A `TypeProto` without a value.
    Undefined,
    /// A dense tensor; the element type is kept as the number in the file.
    Tensor {
        /// Number of `TensorProto.DataType`; `None` if omitted.
        elem: Option<i32>,
        /// Shape; `None` if the rank is not declared.
        shape: DeclaredShape,
    },
    /// A sparse tensor in coordinate format.
    SparseTensor {
        /// Number of `TensorProto.DataType`; `None` if omitted.
        elem: Option<i32>,
        /// Shape of the dense tensor.
        shape: DeclaredShape,
    },
    /// A sequence of elements of this type; `None` if omitted.
    Sequence(Option<Box<Type>>),
    /// An optional value of this type; `None` if omitted.
    Optional(Option<Box<Type>>),
    /// A map from keys to values.
    Map {
        /// Number of `TensorProto.DataType`: an integer or string type.
        key: Option<i32>,
        /// Type of the values; `None` if omitted.
        value: Option<Box<Type>>,
    },
    /// A runtime-specific type.
    Opaque {
        /// Domain that defines the type.
        domain: Option<Arc<str>>,
        /// Name within the domain.
        name: Option<Arc<str>>,
    },
}

/// A declared type (`TypeProto`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Kind of the type.
    pub kind: TypeKind,
    /// Declared meaning of the value (`IMAGE`, `TEXT`, …).
    pub denotation: Option<Arc<str>>,
}

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Self {
        Type { kind, denotation: None }
    }
}

/// A `ValueInfoProto` without the name, which is stored in the value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInfo {
    /// Type; `None` if only the name is declared.
    pub ty: Option<Type>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// `metadata_props`.
    pub metadata: Metadata,
}
