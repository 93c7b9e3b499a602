//! IDX: indices that are negative, out of range, or made of a mask.

mod linear;
mod mask;
mod range;

use super::Detector;

pub const DETECTORS: &[Detector] = &[linear::DETECTOR, range::DETECTOR, mask::DETECTOR];
