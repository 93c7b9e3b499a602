//! SHP: shapes that cannot be, or are not what is declared.

mod declared;
mod interface;
mod mismatch;

use super::Detector;

pub use declared::{lost_sizes, pinned_sizes};

pub const DETECTORS: &[Detector] = &[mismatch::DETECTOR, declared::DETECTOR, interface::DETECTOR];
