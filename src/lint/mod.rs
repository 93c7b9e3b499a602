//! Linting of models: built-in detectors, and pattern rules through the matcher.

#[doc(hidden)]
pub mod builtin;
#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod dynamic;
#[doc(hidden)]
pub mod exporter;
#[doc(hidden)]
pub mod locate;
mod pattern;
#[doc(hidden)]
pub mod picture;
#[doc(hidden)]
pub mod sized;
pub mod suggestions;
mod targets;
mod whole_flow;

#[doc(hidden)]
pub use context::LintContext;
pub use context::LintOptions;

use crate::diag::{Finding, Sink};
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::infer;

/// Returns all findings of `model`, each fault once.
///
/// The result is deterministic, and no weights are read.
///
/// Findings name no file. Findings of the reader come from [`crate::open`]; findings of the Python sources come from
/// `evidence::lint`, with the feature `evidence`.
pub fn lint_model(model: &Model, options: &LintOptions) -> Vec<Finding> {
    let uses = Uses::new(model);
    let facts = infer::infer(model, infer::Options::default());
    let cx = LintContext::new(model, &facts, &uses, options);
    let mut findings = detected(&cx);
    pattern::run(&cx, &options.rules, &mut findings);
    findings.extend(targets::findings(&cx));
    findings.retain(|finding| options.selection.contains(&finding.code));
    findings.extend(dynamic::detect(&cx));
    findings
}

/// Returns the selected findings of the built-in detectors.
pub fn detected(cx: &LintContext) -> Vec<Finding> {
    let selection = &cx.options.selection;
    let mut sink = Sink::default();
    for detector in builtin::detectors() {
        if detector.rules.iter().any(|rule| selection.contains(rule.code)) {
            (detector.run)(cx, &mut sink);
        }
    }
    let mut findings = sink.finish();
    findings.retain(|finding| selection.contains(&finding.code));
    findings
}
