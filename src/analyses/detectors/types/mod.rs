//! DTY: mismatched element types, and conversions that lose information.

mod constant_overflow;
mod dtype_mismatch;
mod float64_promotion;
mod int64_narrowing;
mod lossy_cast_chain;

pub use dtype_mismatch::help;

use super::Detector;

/// Detectors of the DTY rules.
pub const DETECTORS: &[Detector] = &[
    dtype_mismatch::DETECTOR,
    float64_promotion::DETECTOR,
    lossy_cast_chain::DETECTOR,
    constant_overflow::DETECTOR,
    int64_narrowing::DETECTOR,
];
