//! Built-in detectors, for faults that patterns cannot express.
//!
//! The rules that the detectors report are declared in `rules/lint/`, with `detect builtin::NAME`.

mod decided_branch;
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
pub use versions::RUNTIME_OPS;

use super::context::LintContext;
use crate::diag::RuleId;
use crate::diag::Sink;

/// Function that reports findings of one or more rules.
pub struct Detector {
    /// Rules that the detector can report.
    pub rules: &'static [RuleId],
    /// Appends the findings of a model.
    pub run: fn(&LintContext, &mut Sink),
}

/// All detectors, in the order in which they run.
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
    decided_branch::DETECTORS,
];

/// Returns all detectors.
pub fn detectors() -> impl Iterator<Item = &'static Detector> {
    DETECTORS.iter().copied().flatten()
}
