//! Operator schemas: the versions of each operator, with their inputs, outputs, attributes and types.
//!
//! The generated table contains every version of every operator of the ONNX domains, and the operators of
//! ONNX Runtime that `com_microsoft.txt` lists.
//!
//! # Epochs
//! Most versions of an operator only add types, so rules that name versions would be repetitive. Therefore,
//! rules identify an operator by *(domain, name, epoch)*. An epoch is a run of versions in which a node has
//! the same semantics, named after the first of them. `Softmax@1` stands for versions 1 and 11, and
//! `Softmax@13` for all later versions. `steps.tsv` lists the version steps that were reviewed, and whether
//! each ends an epoch. Within an epoch, [`legal()`] checks whether a node is valid at an opset.

pub mod aten;
pub mod constraints;
mod find;
mod legal;
mod model;
mod node_use;
mod obstacle;
pub mod operator;
mod release;
mod table;
mod types;
mod written;

pub use find::{
    ADDED_BY_ONNX_RUNTIME, domain, domains, domains_of, epochs, last_opset, latest, lookup, meant_plainly,
    nearest, ops, schema_of_epoch, schemas, versions, with_attributes,
};
pub use legal::{AttrUse, OpUse, Operand, legal, legal_identity, makes_constants, obstacles};
pub use model::{
    Arity, AttrDefault, AttrSpec, AttrView, Determinism, Domain, Formal, Schema, Ty, TypeParam, Values,
};
pub use node_use::with_use;
pub use obstacle::{Illegal, Obstacle, Slot};
pub use operator::operator;
pub use release::{Release, first_opset_of, release};
pub use types::{TypeSet, ValueType};
pub use written::{is_resize_without_roi, opset_as_written, written_for};
