//! A model built from a trace, before its `aten` nodes are lowered.

use rustc_hash::FxHashMap;

use crate::diag::Finding;
use crate::graph::{Model, NodeId};
use crate::torch;

/// A model built from a trace, before its `aten` nodes are lowered.
pub struct Imported {
    pub model: Model,
    /// Trace node of each node of the model.
    pub origins: FxHashMap<NodeId, torch::NodeId>,
    /// Findings about a program that can be converted.
    pub remarks: Vec<Finding>,
}
