//! OPS and OPV: unknown operators, and nodes that are illegal at their opset.

mod domains;
mod function_opset;
mod legality;
mod obstacle;
mod releases;

pub use obstacle::RUNTIME_OPS;

use super::Detector;

/// Detectors of the OPS and OPV rules.
pub const DETECTORS: &[Detector] =
    &[domains::DETECTOR, legality::DETECTOR, releases::DETECTOR, function_opset::DETECTOR];
