//! IDX: indices that are negative, out of range, or made of a mask, and what is written by them.

mod duplicates;
mod linear;
mod mask;
mod put;
mod range;

use super::Detector;

pub const DETECTORS: &[Detector] =
    &[linear::DETECTOR, range::DETECTOR, mask::DETECTOR, put::DETECTOR, duplicates::DETECTOR];
