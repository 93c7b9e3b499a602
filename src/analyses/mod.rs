//! Analyses that `lint` and `fix` share: detectors, locations of findings, and suggested fixes.

pub mod context;
pub mod detectors;
pub mod dynamic;
pub mod exporter;
pub mod locate;
pub mod repairs;
mod rule_fixes;
pub mod sized;
pub mod suggestions;
mod whole_flow;

pub use context::{LintContext, LintOptions};

use crate::diag::{Finding, Sink};

/// Returns the selected findings of the built-in detectors.
pub fn detected(cx: &LintContext) -> Vec<Finding> {
    let selection = &cx.options.selection;
    let mut sink = Sink::default();
    for detector in detectors::detectors() {
        if detector.rules.iter().any(|rule| selection.contains(rule.code)) {
            (detector.run)(cx, &mut sink);
        }
    }
    let mut findings = sink.finish();
    findings.retain(|finding| selection.contains(&finding.code));
    findings
}
