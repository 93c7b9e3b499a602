//! Fixes for findings: rewrites that rules plan at the nodes of findings.
//!
//! `onnx-lint` announces the fixes that `onnx-fix` applies.

use super::context::{LintContext, LintOptions};
pub use super::rule_fixes::Suggestion;
use super::rule_fixes::raw;
use super::whole_flow::whole;
use crate::diag::{Applicability, Finding, Fix};
use crate::rules::rule::{Rule, Safety};

/// Returns the fixes that `rules` provide for `findings`.
///
/// A rule that fixes findings of an analysis applies only at their nodes; other rules apply wherever they match.
/// Fixes of baked sizes are offered only if they repair the whole data flow.
pub fn mends<'r>(cx: &LintContext, rules: &[&'r Rule], findings: &[Finding]) -> Vec<Suggestion<'r>> {
    whole(cx, rules, raw(cx, rules, findings))
}

/// Attaches a fix to each finding whose first node is fixed by a rewrite in `mends`.
///
/// If rules fix the findings of a code, a fix that the analysis proposed is removed where no rule matches.
/// The summary proposed by the analysis takes precedence over the summary of the rule.
pub fn promise(findings: &mut [Finding], mends: &[Suggestion], options: &LintOptions) {
    let proposed: Vec<Option<Fix>> = findings.iter_mut().map(|finding| withdrawn(finding, options)).collect();
    for mend in mends.iter().filter(|mend| mend.is_at_place) {
        let Some(index) = mend.finding else { continue };
        let Fix { applicability, summary } = fix(mend.rule);
        let is_safer = |known: &Fix| known.applicability <= applicability;
        if !findings[index].fix.as_ref().is_some_and(is_safer) {
            let words = proposed[index].as_ref().map(|proposed| proposed.summary.clone());
            findings[index].fix = Some(Fix { applicability, summary: words.unwrap_or(summary) });
        }
    }
}

/// Removes and returns the proposed fix of a finding, if rules fix the findings of its code.
fn withdrawn(finding: &mut Finding, options: &LintOptions) -> Option<Fix> {
    if options.rules.fixes(&finding.code) { finding.fix.take() } else { None }
}

/// Returns the fix that a rule applies; `--explain` shows the details of the rule.
pub fn fix(rule: &Rule) -> Fix {
    let is_unsafe = rule.safety == Safety::Unsafe;
    let applicability = if is_unsafe { Applicability::Unsafe } else { Applicability::Safe };
    Fix { applicability, summary: format!("applies rule {}", rule.code) }
}
