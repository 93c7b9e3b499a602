//! SPC: what the ONNX specification demands of a model (`docs/IR.md`, `onnx.proto`). Legality of single
//! nodes is [`super::versions`]'.

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
];
