//! Lints PyTorch programs, and reports the parts that `onnx-fix` cannot convert.

use bytes::Bytes;

use super::{Input, Linted, python_sources};
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::diag::{Finding, Level};
use crate::fix::{Options, fix};
use crate::import::{import, outline, scripted};
use crate::lint::LintOptions;
use crate::read::jit;
use crate::read::pt2::{self, Copies, Exported};
use crate::rules::registry::RuleSet;
use crate::torch::{self, Trace};

/// Lints a program.
pub fn lint(input: &Input, bytes: &Bytes, options: &LintOptions) -> Linted {
    if jit::is_archive(bytes) {
        return archive(input, bytes, options);
    }
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

/// Lints a TorchScript archive. Without example inputs, types are unknown, and few rules apply.
fn archive(input: &Input, bytes: &Bytes, options: &LintOptions) -> Linted {
    let archive = match jit::Archive::read(bytes) {
        Ok(archive) => archive,
        Err(why) => return Linted::new(vec![jit::unreadable(&why)], false),
    };
    let rules = RuleSet::patterns().overlaid(&options.rules);
    let outline = outline(&archive, &rules);
    let mut found: Vec<Finding> =
        outline.iter().flat_map(|exported| graph(input, &exported.trace, options)).collect();
    // Without example inputs, the conversion needs shapes that only its caller knows.
    if archive.inputs.is_some() {
        found.extend(match scripted(&archive, &[], &rules) {
            Ok(exported) => refused(&exported, options),
            Err(blockers) => reported(blockers, options),
        });
    }
    Linted::new(found, true)
}

/// Lints the graph, and the Python sources.
fn graph(input: &Input, trace: &Trace, options: &LintOptions) -> Vec<Finding> {
    let mut findings = torch::lint(trace, &options.sources, input.path.as_deref());
    python_sources::lint_program(trace, &options.sources, &mut findings);
    findings
}

/// Runs the converter, and reports what it rejects.
fn refused(exported: &Exported, options: &LintOptions) -> Vec<Finding> {
    if !options.selection.contains(NOT_CONVERTIBLE.code) {
        return Vec::new();
    }
    let rules = RuleSet::patterns().overlaid(&options.rules);
    let refused = match import(exported, &rules) {
        Ok((model, _)) if is_bound(options) => {
            let wanted =
                Options { opset: options.opset, targets: options.targets.clone(), ..Options::default() };
            fix(model, &wanted, &rules).findings
        }
        Ok(_) => Vec::new(),
        Err(blockers) => blockers,
    };
    reported(refused, options)
}

/// Returns the errors of a conversion.
/// Without a requested opset or target, the program need not be convertible: findings are then
/// informational.
fn reported(mut refused: Vec<Finding>, options: &LintOptions) -> Vec<Finding> {
    refused.retain(|finding| finding.level == Level::Error);
    for finding in refused.iter_mut().filter(|_| !is_bound(options)) {
        finding.level = Level::Info;
    }
    refused
}

/// Returns true if the caller requests an opset or a target.
fn is_bound(options: &LintOptions) -> bool {
    options.opset.is_some() || !options.targets.is_empty()
}
