//! IDX: indices that are negative, out of range, or made of a mask.

mod linear;
mod mask;
mod range;

use super::Detector;
use crate::lint::RuleId;

/// An error where the index reads something else; where it is only unwelcome to some runtimes, a hint.
const NEGATIVE_INDEX: RuleId = RuleId::error("IDX001", "negative-index");

pub const DETECTORS: &[Detector] = &[linear::DETECTOR, range::DETECTOR, mask::DETECTOR];
