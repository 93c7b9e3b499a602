//! SPC: violations of the ONNX specification (`docs/IR.md`, `onnx.proto`).
//!
//! [`super::versions`] checks the legality of single nodes.

mod calls;
mod external;
mod functions;
mod imports;
mod initializers;
mod names;
mod order;
mod subgraphs;
mod tensors;
mod types;
mod values;

use super::Detector;
pub use initializers::input_weights;

/// Detectors of the SPC rules.
pub const DETECTORS: &[Detector] = &[
    imports::DETECTOR,
    order::DETECTOR,
    values::DETECTOR,
    names::DETECTOR,
    initializers::DETECTOR,
    tensors::DETECTOR,
    external::DETECTOR,
    types::DETECTOR,
    subgraphs::DETECTOR,
    functions::DETECTOR,
    calls::DETECTOR,
];
