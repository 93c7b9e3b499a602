//! OPS and OPV: operators that no runtime knows, and nodes that their opset does not take.

mod domains;
mod legality;
mod obstacle;
mod releases;

use super::Detector;

pub const DETECTORS: &[Detector] = &[domains::DETECTOR, legality::DETECTOR, releases::DETECTOR];
