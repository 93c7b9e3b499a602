//! DTY: mismatched element types, and conversions that lose information.

mod casts;
mod double;
mod infinite;
mod mismatch;
mod narrow;

use super::Detector;

/// Detectors of the DTY rules.
pub const DETECTORS: &[Detector] =
    &[mismatch::DETECTOR, double::DETECTOR, casts::DETECTOR, infinite::DETECTOR, narrow::DETECTOR];
