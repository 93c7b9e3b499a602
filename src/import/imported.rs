//! A model built from a trace, before its `aten` nodes are lowered.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::diag::Finding;
use crate::graph::{Model, NodeId};
use crate::torch;

/// A model built from a trace, before its `aten` nodes are lowered.
pub struct Imported {
    pub model: Model,
    /// Trace node of each node of the model.
    pub origins: FxHashMap<NodeId, torch::NodeId>,
    /// Sizes of symbolic dimensions during the trace, by name.
    pub traced: FxHashMap<Arc<str>, i64>,
    /// Findings about a program that can be converted.
    pub remarks: Vec<Finding>,
}
