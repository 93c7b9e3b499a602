//! What operators exist, in which versions, and what each version takes.
//!
//! The table is generated: every version of every operator of ONNX's own domains, and the operators
//! of ONNX Runtime (`com.microsoft`) as far as models carry them.
//!
//! # Epochs
//! Most versions of an operator only take more types than the one before, so a rule that names
//! versions would have to be written again and again. The identity of an operator is therefore
//! *(domain, name, epoch)*: a run of versions in which a node means the same, called by the first
//! of them. `Softmax@1` covers the versions 1 and 11, `Softmax@13` the rest. Which steps end an
//! epoch stands in `steps.tsv`, each with its reason. Within an epoch, [`legal()`] says whether a
//! node may be written at some opset.

pub mod aten;
mod find;
mod legal;
mod model;
mod obstacle;
pub mod operator;
mod release;
mod table;
mod types;

pub use find::{
    Domain, domain, domains_of, epochs, latest, lookup, meant_plainly, nearest, ops, schema_of_epoch,
    schemas, versions, with_attributes,
};
pub use legal::{AttrUse, OpUse, Operand, legal, legal_identity, makes_constants, obstacles};
pub use model::{Arity, AttrDefault, AttrSpec, AttrView, Determinism, Formal, Schema, Ty, TypeParam, Values};
pub use obstacle::{Illegal, Obstacle, Slot};
pub use operator::operator;
pub use release::{Release, first_opset_of, release};
pub use types::{TypeSet, ValueType};
