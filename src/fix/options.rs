//! Options of the fix pipeline.

use std::sync::Arc;

use super::precision::Precision;
pub use super::progress::Progress;
pub use crate::batching::request::FreeDim;
use crate::diag::Selection;
use crate::extract::CostModel;
use crate::targets::Profile;

/// Default of `--fold-limit`, in bytes.
pub const DEFAULT_FOLD_LIMIT: usize = 1 << 20;

/// Requested changes of a model.
#[derive(Clone, Debug)]
pub struct Options {
    /// Target opset; `None` keeps the opset of the model, or selects the closest one
    /// that all targets support.
    pub opset: Option<i64>,
    /// IR version to write.
    ///
    /// `None` selects the version of the target opset if the opset changes (at least 4 if an input has a
    /// default), else the version of the model. The selected version is limited to the versions that all
    /// targets support.
    pub ir_version: Option<i64>,
    /// Rules whose fixes are applied.
    ///
    /// Opset conversion also uses unselected rules, unless they are explicitly ignored.
    pub selection: Selection,
    /// Whether to also apply fixes that may change values or shapes.
    pub unsafe_fixes: bool,
    /// Whether to optimize; if not, only the selected fixes and required legalization are applied.
    pub optimize: bool,
    /// Cost model of the optimization.
    pub pricing: CostModel,
    /// Whether to write all inferred types and shapes as `value_info`.
    pub infer_shapes: bool,
    /// Input axes to make dynamic.
    pub dynamic: Vec<FreeDim>,
    /// Inputs whose shapes are made static.
    pub fixed: Vec<FixedShape>,
    /// Target runtimes and devices.
    /// The fixed model uses an opset and an IR version that every target supports, and nothing that a target
    /// is known not to support.
    pub targets: Vec<Arc<Profile>>,
    /// Maximum size in bytes of a constant produced by constant folding.
    /// The limit does not apply to constants that are small enough for the e-graph, or not larger than the
    /// weights that become unused. If the limit is 0, nothing is folded, except small constants in a
    /// conversion.
    pub fold_limit: usize,
    /// Whether to fold QuantizeLinear and DequantizeLinear of constants.
    /// Runtimes fuse quantization nodes into integer kernels, so folding may change results and latency.
    pub fold_qdq: bool,
    /// Conversion of float32 computation to a 16-bit type.
    pub precision: Option<Precision>,
    /// Whether the report includes the rewrite chain that justifies each change.
    pub explains: bool,
    /// Receiver of the name of each phase.
    pub progress: Progress,
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
            progress: Progress::default(),
        }
    }
}

/// Request of the option `--fix-shape INPUT=2,3,224,224`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedShape {
    /// Name of an input of the main graph.
    pub input: String,
    /// Static shape; no dimension is negative.
    pub dims: Vec<i64>,
}
