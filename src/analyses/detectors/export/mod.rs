//! EXP: faults of the export, such as baked or lost sizes.

mod adaptive;
mod baked_shape;
mod computed;
mod conflict;
mod constant_output;
mod demand;
mod dropped_input;
pub mod dynamic_dims;
mod gru_reset_gate;
mod in_place_shape_alias;
mod one_hot_depth;
mod range;
mod reachability;
mod reshape;
mod split_axis;
mod training_mode;
mod trial;
mod unrolled_loop;

use super::Detector;

/// Detectors of the EXP rules.
pub const DETECTORS: &[Detector] = &[
    baked_shape::DETECTOR,
    range::DETECTOR,
    in_place_shape_alias::DETECTOR,
    unrolled_loop::DETECTOR,
    dropped_input::DETECTOR,
    constant_output::DETECTOR,
    training_mode::DETECTOR,
    one_hot_depth::DETECTOR,
    gru_reset_gate::DETECTOR,
    adaptive::DETECTOR,
    computed::DETECTOR,
];
