//! EXP: what the export baked into the graph, or lost.

mod alias;
mod baked;
mod conflict;
mod demand;
pub mod free;
mod halves;
mod one_hot;
mod parts;
mod range;
mod reach;
mod reshape;
mod training;
mod unrolled;

use super::Detector;

pub const DETECTORS: &[Detector] = &[
    baked::DETECTOR,
    range::DETECTOR,
    alias::DETECTOR,
    unrolled::DETECTOR,
    parts::DETECTOR,
    training::DETECTOR,
    one_hot::DETECTOR,
];
