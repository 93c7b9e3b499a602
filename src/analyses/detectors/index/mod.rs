//! IDX: negative and out-of-range indices, boolean masks, and indexed writes.

mod duplicates;
mod linear;
mod mask;
mod put;
mod range;

use super::Detector;

/// Detectors of the IDX rules.
pub const DETECTORS: &[Detector] =
    &[linear::DETECTOR, range::DETECTOR, mask::DETECTOR, put::DETECTOR, duplicates::DETECTOR];
