//! Finds what is wrong with a model: the builtin detectors, and the pattern rules through the matcher.

pub mod builtin;
pub mod context;
pub mod exporter;
pub mod locate;
mod pattern;
pub mod runtime;

pub use context::{LintContext, LintOptions};

use crate::diag::{Finding, Sink};
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::infer;

/// Everything that is found in `model`, each fault once; the same for equal input.
pub fn lint_model(model: &Model, options: &LintOptions) -> Vec<Finding> {
    let uses = Uses::new(model);
    let facts = infer::infer(model, infer::Options::default());
    let cx = LintContext::new(model, &facts, &uses, options);
    let mut sink = Sink::default();
    for detector in builtin::detectors() {
        if detector.rules.iter().any(|rule| options.selection.contains(rule.code)) {
            (detector.run)(&cx, &mut sink);
        }
    }
    let mut findings = sink.finish();
    pattern::run(&cx, &options.rules, &mut findings);
    findings.extend(options.runtimes.iter().flat_map(|runtime| runtime.findings(model)));
    findings.retain(|finding| options.selection.contains(&finding.code));
    findings
}
