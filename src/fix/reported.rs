//! Nothing is mended that is not reported.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::mend::operators;
use super::options::Options;
use crate::diag::Selection;
use crate::graph::Model;
use crate::lint::{LintOptions, lint_model};
use crate::rules::registry::RuleSet;
use crate::rules::rule::Phase;

/// The options under which only such faults are mended as an analysis finds in the model. A rule that reports itself is
/// left to itself.
pub fn found(model: &Model, options: &Options, rules: &RuleSet) -> Options {
    let within_reach = rules.within_reach(operators(model), &[Phase::Fix]);
    let codes: FxHashSet<&str> = within_reach.iter().filter_map(|rule| rule.mends.as_deref()).collect();
    let mut codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
    codes.sort_unstable();
    if codes.is_empty() {
        return options.clone();
    }
    let wanted = Selection::new(codes.clone(), Vec::new());
    let analyses = LintOptions { selection: wanted, rules: Arc::default(), ..LintOptions::default() };
    let findings = lint_model(model, &analyses);
    let found: FxHashSet<&str> = findings.iter().map(|finding| &*finding.code).collect();
    codes.retain(|code| !found.contains(code.as_str()));
    Options { selection: options.selection.clone().ignoring(codes), ..options.clone() }
}
