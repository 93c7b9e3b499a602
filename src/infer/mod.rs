//! What can be known of a model's values without running it: types, shapes and elements.
//!
//! A [`Fact`] is what is known of one value; [`infer()`] gives those of a whole model. `transfer` gives the facts of the
//! outputs of one call of an operator from those of its inputs; it serves the graph and the e-graph alike. `execute`
//! computes what is constant in a model, bodies and sequences included.
//!
//! **Invariant:** a fact is true in every run that succeeds; what is not known stays unknown. Types that
//! the model declares are compared with what was inferred, and used only where nothing was.

mod annotate;
mod call;
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
pub use content::Content;
pub use decided::decided_branch;
pub use driver::{Contradiction, Facts, MAX_FUNCTION_NODES, MAX_NESTING, News, Options, infer, update};
pub use elements::{Elements, MAX_FOLLOWED};
pub use eval::{Array, Buffer};
pub(crate) use fact::same_bits;
pub use fact::{ConstValue, Fact, TensorFact};
pub use fault::{Expected, Fault};
#[doc(hidden)]
pub use load::attr;
pub use load::{MAX_ELEMENTS, array, filling, tensor_of};
pub use meet::Conflict;
pub use shape::{Shape, Size};
pub use weights::{is_at_hand, is_weight_arithmetic};
