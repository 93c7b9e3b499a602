//! Fixes for findings: rewrites of rules, planned at the nodes of findings.
//!
//! `onnx-lint` announces these fixes, and `onnx-fix` applies them, so the two tools agree.

use rustc_hash::FxHashMap;

use super::context::{LintContext, LintOptions, number};
use super::whole_flow::whole;
use crate::diag::{Applicability, Finding, Fix};
use crate::edit::Patch;
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::patch;
use crate::rules::rule::{Rule, Safety};

/// Rewrite that fixes a finding.
pub struct Suggestion<'r> {
    /// Rule of the rewrite.
    pub rule: &'r Rule,
    /// Change of the model.
    pub patch: Patch,
    /// Index of the fixed finding; `None` for a rule that reports its own findings.
    pub finding: Option<usize>,
    /// Whether the rewrite matches the first node of the finding, not only another of its nodes.
    pub is_at_place: bool,
}

/// Returns the fixes that `rules` provide for `findings`.
///
/// A rule that fixes findings of an analysis applies only at their nodes; other rules apply wherever they match.
/// Fixes of baked sizes are offered only if they repair the whole data flow.
pub fn mends<'r>(cx: &LintContext, rules: &[&'r Rule], findings: &[Finding]) -> Vec<Suggestion<'r>> {
    whole(cx, rules, raw(cx, rules, findings))
}

/// Returns the fixes like [`mends`], but without filtering those of baked sizes.
pub(super) fn raw<'r>(cx: &LintContext, rules: &[&'r Rule], findings: &[Finding]) -> Vec<Suggestion<'r>> {
    let mut found: FxHashMap<(&str, u32), usize> = FxHashMap::default();
    for (index, finding) in findings.iter().enumerate() {
        for &node in &finding.nodes {
            found.entry((&finding.code, node)).or_insert(index);
        }
    }
    let mut mends = Vec::new();
    for graph in cx.model.graphs.ids() {
        let host = PlainHost::new(cx.model, graph, cx.facts, cx.uses);
        for &rule in rules {
            for direction in rule.directions() {
                for one in matcher::find(&host, direction).matches {
                    let at = |code| {
                        let nodes = one.nodes.iter().map(|&node| (code, number(node)));
                        nodes.filter_map(|key| found.get(&key)).min().copied()
                    };
                    let finding = rule.fixes.as_deref().and_then(at);
                    if rule.fixes.is_some() && finding.is_none() {
                        continue;
                    }
                    let place = finding.and_then(|index| findings[index].nodes.first());
                    let is_at_place = one.nodes.iter().any(|&node| Some(&number(node)) == place);
                    let patch = patch(&host, rule, direction, one);
                    mends.extend(patch.map(|patch| Suggestion { rule, patch, finding, is_at_place }));
                }
            }
        }
    }
    mends
}

/// Attaches a fix to each finding that `mends` fixes at its first node.
///
/// Proposed fixes without a rewrite are removed. The summary proposed by the analysis takes precedence over that of the
/// rule.
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

/// Removes and returns a proposed fix that a rule must carry out.
fn withdrawn(finding: &mut Finding, options: &LintOptions) -> Option<Fix> {
    if options.rules.fixes(&finding.code) { finding.fix.take() } else { None }
}

/// Returns the fix of a rule; `--explain` shows its details.
pub fn fix(rule: &Rule) -> Fix {
    let is_unsafe = rule.safety == Safety::Unsafe;
    let applicability = if is_unsafe { Applicability::Unsafe } else { Applicability::Safe };
    Fix { applicability, summary: format!("applies rule {}", rule.code) }
}
