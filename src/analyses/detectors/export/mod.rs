//! EXP: faults of the export, such as baked or lost sizes.

mod alias;
mod baked;
mod conflict;
mod demand;
pub mod dynamic_dims;
mod one_hot;
mod range;
mod reachability;
mod reshape;
mod split_axis;
mod training;
mod unrolled;
mod unused;

use super::Detector;

/// Detectors of the EXP rules.
pub const DETECTORS: &[Detector] = &[
    baked::DETECTOR,
    range::DETECTOR,
    alias::DETECTOR,
    unrolled::DETECTOR,
    unused::DETECTOR,
    training::DETECTOR,
    one_hot::DETECTOR,
];
