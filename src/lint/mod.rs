//! Finds what is wrong with a model: the builtin detectors, and the pattern rules through the matcher.

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

/// Everything that is found in `model`, each fault once; the same for equal input. No weights are read.
///
/// Findings name no file. What its reader says of a model, and what the Python behind it says, come from elsewhere:
/// from [`crate::open`] and, with the feature `evidence`, `evidence::lint`.
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

/// What code finds, as far as it is selected.
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
