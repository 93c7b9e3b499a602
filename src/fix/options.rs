//! What `onnx-fix` is asked to do.

use std::sync::Arc;

use super::precision::Precision;
pub use crate::batching::request::FreeDim;
use crate::diag::Selection;
use crate::extract::CostModel;
use crate::targets::Profile;

/// Constants that folding makes may take this many bytes, unless `--fold-limit` says otherwise.
pub const DEFAULT_FOLD_LIMIT: usize = 1 << 20;

/// What to do to a model.
#[derive(Clone, Debug)]
pub struct Options {
    /// The opset to convert to; `None` keeps the model's own.
    pub opset: Option<i64>,
    /// The IR version to write; `None` takes the one that belongs to the opset where that changes, and
    /// keeps the model's own otherwise.
    pub ir_version: Option<i64>,
    /// The rules whose fixes are applied. Conversion to another opset does not depend on it.
    pub selection: Selection,
    /// Whether fixes that may change values or shapes are applied too.
    pub unsafe_fixes: bool,
    /// Whether equal but cheaper forms are taken; without it, only what legality and the selected fixes
    /// need is changed.
    pub optimize: bool,
    /// By what they are chosen.
    pub pricing: CostModel,
    /// Whether every inferred type and shape is written as `value_info`.
    pub infer_shapes: bool,
    /// Dimensions of inputs to set free.
    pub dynamic: Vec<FreeDim>,
    /// Inputs to pin to one shape.
    pub fixed: Vec<FixedShape>,
    /// The runtimes and devices that are to take the result: their opsets and IR versions, and nothing that one of them
    /// is known not to take.
    pub targets: Vec<Arc<Profile>>,
    /// The most bytes that a constant made by folding may take.
    pub fold_limit: usize,
    /// Whether QuantizeLinear and DequantizeLinear of constants are folded into constants. Runtimes fuse these nodes
    /// into integer kernels, so that results and speed may change.
    pub fold_qdq: bool,
    /// The type to compute in, in the place of float32.
    pub precision: Option<Precision>,
    /// Whether the report says of each change why it keeps what it keeps, step by step.
    pub explains: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            opset: None,
            ir_version: None,
            selection: Selection::all(),
            unsafe_fixes: false,
            optimize: true,
            pricing: CostModel::default(),
            infer_shapes: false,
            dynamic: Vec::new(),
            fixed: Vec::new(),
            targets: Vec::new(),
            fold_limit: DEFAULT_FOLD_LIMIT,
            fold_qdq: false,
            precision: None,
            explains: false,
        }
    }
}

/// `--fix-shape INPUT=2,3,224,224`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedShape {
    /// The name of the input, of the main graph.
    pub input: String,
    /// None of them negative.
    pub dims: Vec<i64>,
}
