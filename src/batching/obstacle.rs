//! Why a model cannot run on another number of samples.

use crate::graph::{NodeId, ValueId};

/// The kind of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The node holds the traced size as a constant, and no rewrite is proved.
    Fixes,
    /// The node combines elements of several samples.
    Mixes,
    /// There is no batching rule for the operator, or for this use of it.
    Unsupported,
    /// A rank, size or constant that the proof needs is not known.
    Unknown,
}

/// A node or output that prevents another number of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The node; `None` for an obstacle in the interface.
    pub node: Option<NodeId>,
    /// The affected value, if it is not an output of the node.
    pub value: Option<ValueId>,
    /// The kind.
    pub kind: Kind,
    /// Reason, as a clause that follows the name of the node.
    pub why: String,
}

/// Why a batching rule gives up.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub kind: Kind,
    pub text: String,
}

pub(super) type Result<T> = std::result::Result<T, Reason>;

pub(super) fn fixes<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Fixes, text: text.into() })
}

pub(super) fn mixes<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Mixes, text: text.into() })
}

pub(super) fn unsupported<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Unsupported, text: text.into() })
}

pub(super) fn unknown<T>(text: impl Into<String>) -> Result<T> {
    Err(Reason { kind: Kind::Unknown, text: text.into() })
}
