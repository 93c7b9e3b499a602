//! Model edits: planned as patches, validated, applied in one place, and recorded.
//!
//! A [`Patch`] describes a change to a part of one graph. An [`Editor`] owns the model while it
//! changes. The editor validates each patch, names new values and nodes, copies metadata to them, and
//! removes dead nodes.
//! Passes modify a model only through its editor, and every change records its rule or pass and its
//! location, so that reports are complete. The editor also caches inferred facts and updates them
//! incrementally.

mod analysis;
mod apply;
mod change;
mod check;
mod constants;
mod copy;
mod dead_code;
mod duplicate_names;
mod editor;
mod finalize;
pub(crate) mod inline;
mod names;
mod node_names;
mod patch;
mod splice;
#[cfg(test)]
mod tests;

pub use change::{By, Change, Kind, Proof, Safety, Site};
pub use constants::{Constants, initialize};
pub use dead_code::{dead_nodes, is_unused, unused_initializers};
pub use duplicate_names::{Duplicates, duplicate_names};
pub use editor::{AnalysisView, Changes, Editor, REMOVED};
pub use names::Names;
pub use node_names::{RepeatedName, repeated_node_names};
pub use patch::{At, Item, NewId, NewValue, Patch, PatchNode, PatchOp, RULE_KEY};
pub use splice::{inline_branch, inline_decided};
