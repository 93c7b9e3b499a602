//! DTY: element types that do not go together, or that lose what they should keep.

mod casts;
mod double;
mod infinite;
mod mismatch;
mod narrow;

use super::Detector;

pub const DETECTORS: &[Detector] =
    &[mismatch::DETECTOR, double::DETECTOR, casts::DETECTOR, infinite::DETECTOR, narrow::DETECTOR];
