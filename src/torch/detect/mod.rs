//! The detectors: one file for each fault or group of faults, each a pure function of the [`Context`].

mod baked_shape;
mod constant_output;
mod constant_overflow;
mod constants;
mod dict_output;
mod dropped_input;
mod float64_promotion;
mod in_place_shape_alias;
mod in_place_view_lost;
mod indexing;
mod item_baked;
mod one_hot_depth;
mod operators;
mod training_mode;
mod unrolled_loop;

use super::context::Context;
use crate::diag::Finding;

/// All detectors.
pub const DETECTORS: [fn(&Context, &mut Vec<Finding>); 15] = [
    baked_shape::detect,
    item_baked::detect,
    in_place_shape_alias::detect,
    in_place_view_lost::detect,
    constants::detect,
    unrolled_loop::detect,
    dropped_input::detect,
    constant_output::detect,
    training_mode::detect,
    dict_output::detect,
    one_hot_depth::detect,
    indexing::detect,
    float64_promotion::detect,
    constant_overflow::detect,
    operators::detect,
];

#[cfg(test)]
mod tests;
