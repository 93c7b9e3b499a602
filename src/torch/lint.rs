//! Linting of a trace with all detectors.

use std::path::Path;

use super::call_site::call_site;
use super::context::Context;
use super::detect::DETECTORS;
use super::trace::Trace;
use crate::diag::Finding;
use crate::source::SourceFiles;

/// Returns the findings of all detectors. The caller fills in the `file` of each finding.
///
/// `linted` is the file that the trace was read from, if any. Python sources are also searched for in
/// the folder of `linted` and the two folders above.
pub fn lint(trace: &Trace, sources: &SourceFiles, linted: Option<&Path>) -> Vec<Finding> {
    let context = Context::new(trace, sources);
    let mut findings = Vec::new();
    for detect in DETECTORS {
        detect(&context, &mut findings);
    }
    for finding in findings.iter_mut().filter(|finding| finding.source.is_none()) {
        finding.source = call_site(trace, &finding.anchor.module, sources, linted);
    }
    findings
}
