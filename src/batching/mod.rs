//! Batching: rewrites a model that was traced on one batch so that it runs on `N` samples.
//!
//! This is `vmap` on a graph. [`Layout`] says for each value whether all samples share it, or where its sample axis is.
//! A batching rule per operator (`rules/`) takes the layouts of the operands and makes nodes that compute the results of
//! `N` independent samples, with the layout of each. So samples cannot mix: what a rule makes is `N` results of the traced
//! model by construction. An operator without a rule, or a rule without a proof, gives an [`Obstacle`], and the model is
//! left as it is. The analysis and the rewrite are one pass, so that `onnx-lint --dynamic` reports what `onnx-fix` meets.
//!
//! The result is a set of patches, one per graph, and the layout of each output of the model.

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

pub use cx::Samples;
pub use layout::Layout;
pub use obstacle::{Kind, Obstacle};

use crate::edit::Patch;
use crate::graph::{Model, ValueId};
use crate::infer::Facts;
use cx::Cx;

/// A model that runs on `N` samples, as changes of the traced one.
#[derive(Debug)]
pub struct Batched {
    /// The changes, at most one patch per graph.
    pub patches: Vec<Patch>,
    /// The layout of each output of the main graph, in order.
    pub outputs: Vec<(ValueId, Layout)>,
    /// Every value that differs between samples, with its layout, sorted by value.
    pub carried: Vec<(ValueId, Layout)>,
}

/// Plans the rewrite of `model`, whose inputs `samples` carry the samples of one batch.
///
/// `facts` are those of the model as it was traced.
///
/// # Errors
/// Every node that fixes the size of the batch, combines samples, or has no batching rule.
pub fn plan(model: &Model, facts: &Facts, samples: &Samples) -> Result<Batched, Vec<Obstacle>> {
    Cx::new(model, facts, samples).run()
}
