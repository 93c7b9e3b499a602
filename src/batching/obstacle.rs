//! Reasons why a model cannot run on more or fewer samples than traced.

use crate::graph::{NodeId, ValueId};

/// Kind of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The node depends on the traced number of samples, and no correct rewrite is known.
    Fixes,
    /// The node combines elements of several samples.
    Mixes,
    /// No batching rule supports this use of the operator, or the model output has no sample axis.
    Unsupported,
    /// The proof fails, mostly because a rank, size or constant is unknown.
    Unknown,
}

/// A node or output that prevents the model from running on more or fewer samples than traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Node, or the producer of the output, if there is one.
    pub node: Option<NodeId>,
    /// Model output, if the obstacle concerns an output.
    pub value: Option<ValueId>,
    /// Kind of the obstacle.
    pub kind: Kind,
    /// Reason, as a clause that follows the name of the node.
    pub why: String,
}

/// Reason why a batching rule fails.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    /// Kind of the obstacle.
    pub kind: Kind,
    /// Clause that follows the name of the node; empty if the obstacle is already recorded.
    pub text: String,
}

/// Result of a batching rule.
pub(super) type Result<T> = std::result::Result<T, Reason>;

/// Returns an error of the kind [`Kind::Fixes`].
pub(super) fn fixes<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Fixes, text: text.into() })
}

/// Returns an error of the kind [`Kind::Mixes`].
pub(super) fn mixes<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Mixes, text: text.into() })
}

/// Returns an error of the kind [`Kind::Unsupported`].
pub(super) fn unsupported<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Unsupported, text: text.into() })
}

/// Returns an error of the kind [`Kind::Unknown`].
pub(super) fn unknown<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Unknown, text: text.into() })
}
