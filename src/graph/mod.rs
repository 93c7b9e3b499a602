//! The graph of typed values that everything else works on.

pub mod arena;
pub mod attribute;
pub mod dim;
pub mod element;
pub mod model;
pub mod names;
pub mod order;
pub mod scopes;
pub mod syntax;
pub mod tensor;
pub mod types;
pub mod uses;

pub use arena::{Arena, GraphId, Id, NodeId, TensorId, ValueId};
pub use attribute::{AttrKind, AttrValue, Attribute};
pub use dim::Dim;
pub use element::ElemType;
pub use model::{
    Def, Function, Graph, Initial, Metadata, Model, Node, OpsetImport, Owner, Port, QuantAnnotation, Value,
    normal_domain,
};
pub use tensor::{SparseTensor, Tensor, TensorData};
pub use types::{DeclaredDim, DeclaredShape, Dimension, Type, TypeKind, ValueInfo};
