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
    /// Neither a number nor a name: any size.
    Absent,
}

/// A dimension with its denotation (`DATA_BATCH`, …).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// The size.
    pub dim: DeclaredDim,
    /// What the axis means, as the model says it.
    pub denotation: Option<Arc<str>>,
}

/// A declared shape; `None` where the rank is not declared.
pub type DeclaredShape = Option<Vec<Dimension>>;

/// What a type is, apart from its denotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A `TypeProto` without a value.
    Undefined,
    /// Element types are kept as the numbers written.
    Tensor {
        /// A number of `TensorProto.DataType`; `None` where none is stated.
        elem: Option<i32>,
        /// `None` where the rank is not declared.
        shape: DeclaredShape,
    },
    /// In coordinate form; fields as those of a dense tensor.
    SparseTensor {
        /// A number of `TensorProto.DataType`.
        elem: Option<i32>,
        /// That of the dense tensor.
        shape: DeclaredShape,
    },
    /// Any number of elements, all of this type; `None` where it is not stated.
    Sequence(Option<Box<Type>>),
    /// One of this type, or nothing; `None` where it is not stated.
    Optional(Option<Box<Type>>),
    /// From keys to values.
    Map {
        /// A number of `TensorProto.DataType`: an integer or a string.
        key: Option<i32>,
        /// The type of the values; `None` where it is not stated.
        value: Option<Box<Type>>,
    },
    /// What only some runtime knows.
    Opaque {
        /// Whose type it is.
        domain: Option<Arc<str>>,
        /// What it is called there.
        name: Option<Arc<str>>,
    },
}

/// `TypeProto`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What values of the type are.
    pub kind: TypeKind,
    /// What they mean, as the model says it (`IMAGE`, `TEXT`, …).
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
    /// The type; `None` where only the name is declared.
    pub ty: Option<Type>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// `metadata_props`.
    pub metadata: Metadata,
}
