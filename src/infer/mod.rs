//! Static inference of types, shapes and elements, and evaluation of constants.
//!
//! A [`Fact`] holds the inferred properties of one value. [`infer()`] computes the facts of a whole model.
//! `transfer` computes the output facts of one operator call from its input facts, for the graph and the e-graph.
//! `execute` computes the constant values of a model, including subgraphs and sequences.
//!
//! **Invariant:** an inferred fact holds in every successful run; an unproved property stays unknown. The
//! invariant has two exceptions. `values/width` assumes that computed sizes do not overflow. `ops/reshape`
//! assumes that a size computed for a target shape is not -1.
//!
//! Declared types are compared with the inferred ones, and trusted only where inference finds nothing.

mod annotate;
mod call;
mod constraints;
mod content;
mod decided;
mod declared;
mod driver;
mod elements;
#[doc(hidden)]
pub mod eval;
#[doc(hidden)]
pub mod execute;
mod fact;
mod fault;
mod load;
mod meet;
mod ops;
mod rounding;
mod shape;
#[cfg(test)]
mod testing;
mod unify;
mod values;
mod weights;

#[doc(hidden)]
pub use annotate::Declarer;
pub use annotate::annotate;
#[doc(hidden)]
pub use call::{Attrs, Fresh, NoSymbols, OpCall, transfer};
#[doc(hidden)]
pub use constraints::violations;
#[doc(hidden)]
pub use content::Content;
pub use decided::decided_branch;
pub use declared::{numbers as declared_numbers, size as declared_size};
pub use driver::{Contradiction, Facts, MAX_FUNCTION_NODES, MAX_NESTING, News, Options, infer, update};
pub use elements::MAX_FOLLOWED;
pub use eval::{Array, Buffer};
pub(crate) use fact::same_bits;
pub use fact::{ConstValue, Elements, Fact, TensorFact};
pub use fault::{Expected, Fault};
#[doc(hidden)]
pub use load::attr;
pub use load::{MAX_ELEMENTS, array, filling, tensor_of};
pub use meet::Conflict;
pub use rounding::rounding_difference;
pub use shape::{Shape, Size};
pub use values::evaluate;
pub use weights::{is_at_hand, is_weight_arithmetic};
