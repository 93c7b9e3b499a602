//! SHP: invalid shapes, and shapes that differ from their declaration.

mod declared;
mod interface;
mod mismatch;

use super::Detector;

pub use declared::{lost_sizes, pinned_sizes};

/// Detectors of the SHP rules.
pub const DETECTORS: &[Detector] = &[mismatch::DETECTOR, declared::DETECTOR, interface::DETECTOR];
