//! The detectors: code that finds what a pattern cannot say. Their rules' pages stand in `rules/lint/`,
//! with `detect builtin::NAME`.

mod decided;
mod export;
mod index;
mod numbers;
mod quantised;
mod shapes;
mod spec;
mod types;
mod unused;
mod versions;

pub use shapes::{lost_sizes, pinned_sizes};
pub use spec::input_weights;

use super::context::LintContext;
use crate::diag::RuleId;
use crate::diag::Sink;

/// A function that reports for one or more rules.
pub struct Detector {
    pub rules: &'static [RuleId],
    pub run: fn(&LintContext, &mut Sink),
}

/// Every detector, in the order in which their findings are met.
pub const DETECTORS: &[&[Detector]] = &[
    spec::DETECTORS,
    versions::DETECTORS,
    types::DETECTORS,
    shapes::DETECTORS,
    export::DETECTORS,
    index::DETECTORS,
    numbers::DETECTORS,
    quantised::DETECTORS,
    unused::DETECTORS,
    decided::DETECTORS,
];

pub fn detectors() -> impl Iterator<Item = &'static Detector> {
    DETECTORS.iter().copied().flatten()
}
