//! Intermediate representation of models: graphs of nodes and values.
//!
//! A [`Model`] keeps all graphs, nodes, values and tensors in arenas. Ids index the arenas and are unique in
//! the model.
//! A graph lists its nodes in file order. A node refers to its inputs and outputs by value id, and each
//! value records its definition.
//!
//! ```
//! let file = onnx_lint::open("tests/pitfalls/exported/BakedBatch.ts17.onnx")?;
//! let (model, main) = (&file.model, &file.model.graphs[file.model.main]);
//! let last = &model.nodes[*main.nodes.last().expect("it has nodes")];
//! let names: Vec<&str> = last.inputs.iter().flatten().map(|&value| &*model.values[value].name).collect();
//! assert_eq!((&*last.op_type, names), ("Reshape", vec!["in0", "/Constant_output_0"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arena;
pub mod attribute;
pub mod deferred;
pub mod dim;
pub mod element;
pub mod metadata;
pub mod model;
#[doc(hidden)]
pub mod names;
pub mod order;
#[doc(hidden)]
pub mod origin;
pub mod scopes;
#[doc(hidden)]
pub mod syntax;
pub mod tensor;
pub mod types;
pub mod uses;

pub use arena::{Arena, GraphId, Id, NodeId, TensorId, ValueId};
pub use attribute::{AttrKind, AttrValue, Attribute};
pub use deferred::{Deferred, DeferredField, RangeRead};
pub use dim::Dim;
pub use element::ElemType;
pub use metadata::Metadata;
pub use model::{
    Def, Function, Graph, Initial, Model, Node, OpsetImport, Owner, Port, QuantAnnotation, Value,
    normal_domain, trimmed,
};
pub use tensor::{SparseTensor, Tensor, TensorData};
pub use types::{DeclaredDim, DeclaredShape, Dimension, Type, TypeKind, ValueInfo};
