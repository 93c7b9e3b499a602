//! SHP: invalid shapes, and shapes that differ from their declaration.

mod declared_shape_wrong;
mod reflect;
mod shape_mismatch;
mod static_batch;

use super::Detector;

pub use declared_shape_wrong::{lost_sizes, pinned_sizes};

/// Detectors of the SHP rules.
pub const DETECTORS: &[Detector] =
    &[shape_mismatch::DETECTOR, declared_shape_wrong::DETECTOR, static_batch::DETECTOR, reflect::DETECTOR];
