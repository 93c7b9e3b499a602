//! Batching: rewrites a model that was traced on one batch so that it runs on `N` samples.
//!
//! Batching is `vmap` on a graph. A value is carried if it may differ between samples, and shared otherwise.
//! The [`Layout`] of a carried value is the position of its sample axis. The batching rule of an operator
//! (`rules/`) receives the layouts of the operands. The rule emits nodes that compute the results of `N`
//! independent samples, and sets the layouts of the results. Because no rule mixes samples, the rewritten
//! model returns `N` results of the traced model by construction.
//!
//! If the operator of a node with carried inputs has no rule, or if the rule cannot prove the rewrite
//! correct, an [`Obstacle`] is returned, and the model is unchanged. Analysis and rewrite are one pass, so
//! that `onnx-lint --dynamic` and `onnx-fix` find the same obstacles to one name of an axis.

mod body;
mod convert;
mod cx;
mod emit;
mod finish;
mod layout;
mod obstacle;
pub mod request;
mod rules;
pub mod size;
mod walk;

pub use cx::Samples;
pub use layout::Layout;
pub use obstacle::{Kind, Obstacle};

use crate::edit::Patch;
use crate::graph::{Model, ValueId};
use crate::infer::Facts;
use cx::Cx;

/// Changes of the traced model after which it runs on `N` samples.
#[derive(Debug)]
pub struct Batched {
    /// Patches of the changed graphs, one for each graph.
    pub patches: Vec<Patch>,
    /// The layout of each output of the main graph, in order.
    pub outputs: Vec<(ValueId, Layout)>,
    /// Every carried value, with its layout, sorted by value.
    pub carried: Vec<(ValueId, Layout)>,
}

/// Plans the rewrite of `model`; `samples` are the inputs that carry the samples of one batch.
///
/// `facts` are the inferred facts of the traced model.
///
/// # Errors
/// Returns the obstacles of the nodes and outputs that cannot be rewritten.
pub fn plan(model: &Model, facts: &Facts, samples: &Samples) -> Result<Batched, Vec<Obstacle>> {
    Cx::new(model, facts, samples).run()
}
