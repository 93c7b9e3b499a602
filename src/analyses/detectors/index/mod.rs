//! IDX: negative and out-of-range indices, boolean masks, and indexed writes.

mod boolean_mask;
mod index_out_of_range;
mod index_put_broadcast;
mod lost_duplicates;
mod negative_index;

use super::Detector;

/// Detectors of the IDX rules.
pub const DETECTORS: &[Detector] = &[
    negative_index::DETECTOR,
    index_out_of_range::DETECTOR,
    boolean_mask::DETECTOR,
    index_put_broadcast::DETECTOR,
    lost_duplicates::DETECTOR,
];
