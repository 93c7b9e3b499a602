//! Changes of a model: planned as patches, checked, made in one place, and written down.
//!
//! A [`Patch`] says what is to become of a part of one graph. An [`Editor`] owns the model while it changes: it holds
//! each patch against the graph before it is applied, gives names, moves definitions, hands on metadata and takes out
//! what nothing needs any more. There is no other way to a model that is being fixed, and every change says by what
//! rule or pass it is, and where: so that nothing happens that is not in the report. The editor knows the facts of the
//! model, and finds them out anew only where a patch reaches.

mod analysis;
mod change;
mod check;
mod constants;
mod copy;
mod duplicate_names;
mod editor;
pub(crate) mod inline;
mod names;
mod patch;
mod place;
mod settle;
mod splice;
mod sweep;
#[cfg(test)]
mod tests;

pub use change::{By, Change, Proof, Safety, Site};
pub use constants::{Constants, initialize};
pub use duplicate_names::{Duplicates, duplicate_names};
pub use editor::{Changes, Editor, Known, LEFT_OUT};
pub use names::Names;
pub use patch::{At, Form, Item, NewId, NewValue, Patch, PatchNode, RULE_KEY};
pub use splice::{decided, taken};
pub use sweep::{dead_nodes, is_unused, unused_initializers};
