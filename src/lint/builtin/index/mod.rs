//! IDX: indices that are negative, out of range, or made of a mask.

mod linear;
mod mask;
mod range;

use super::Detector;
use crate::diag::known::NEGATIVE_INDEX;

/// An error where the index reads something else; where it is only unwelcome to some runtimes, a hint.

pub const DETECTORS: &[Detector] = &[linear::DETECTOR, range::DETECTOR, mask::DETECTOR];
