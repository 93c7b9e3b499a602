//! Lints a `torch.export` program, and reports the parts that `onnx-fix` cannot convert.

use bytes::Bytes;

use super::{Input, Linted, python_sources};
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::diag::{Finding, Level};
use crate::fix::{Options, fix};
use crate::import::import;
use crate::lint::LintOptions;
use crate::read::pt2::{self, Copies, Exported};
use crate::rules::registry::RuleSet;
use crate::torch::{self, Trace};

/// Lints a program.
pub fn lint(input: &Input, bytes: &Bytes, options: &LintOptions) -> Linted {
    let (exported, findings) = pt2::exported(bytes, Copies::LeftOut);
    let Some(exported) = exported else {
        // The graph may be readable although other parts of the program are not.
        let trace = pt2::read(bytes).0;
        let found = trace.iter().flat_map(|trace| graph(input, trace, options));
        return Linted::new(findings.into_iter().chain(found).collect(), trace.is_some());
    };
    let found = graph(input, &exported.trace, options).into_iter();
    Linted::new(findings.into_iter().chain(found).chain(refused(&exported, options)).collect(), true)
}

/// Lints the graph, and the Python sources.
fn graph(input: &Input, trace: &Trace, options: &LintOptions) -> Vec<Finding> {
    let mut findings = torch::lint(trace, &options.sources, input.path.as_deref());
    python_sources::lint_program(trace, &options.sources, &mut findings);
    findings
}

/// Runs the converter, and reports what it rejects.
/// Without a requested opset or target, the program need not be convertible: findings are then
/// informational.
fn refused(exported: &Exported, options: &LintOptions) -> Vec<Finding> {
    if !options.selection.contains(NOT_CONVERTIBLE.code) {
        return Vec::new();
    }
    let rules = RuleSet::patterns().overlaid(&options.rules);
    let is_bound = options.opset.is_some() || !options.targets.is_empty();
    let mut refused = match import(exported, &rules) {
        Ok((model, _)) if is_bound => {
            let wanted =
                Options { opset: options.opset, targets: options.targets.clone(), ..Options::default() };
            fix(model, &wanted, &rules).findings
        }
        Ok(_) => Vec::new(),
        Err(blockers) => blockers,
    };
    refused.retain(|finding| finding.level == Level::Error);
    for finding in refused.iter_mut().filter(|_| !is_bound) {
        finding.level = Level::Info;
    }
    refused
}
