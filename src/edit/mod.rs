//! Model edits: planned as patches, validated, applied in one place, and recorded.
//!
//! A [`Patch`] describes a change to a part of one graph. An [`Editor`] owns the model while it
//! changes. It validates each patch, assigns names, moves definitions, passes on metadata, and removes
//! dead nodes.
//! It is the only way to modify a model, and every change records its rule or pass and its location, so
//! that reports are complete. The editor also caches inferred facts and updates them incrementally.

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
