//! Rewrites that rules plan at the nodes of findings.

use rustc_hash::FxHashMap;

use super::context::{LintContext, number};
use crate::diag::Finding;
use crate::edit::Patch;
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::patch;
use crate::rules::rule::Rule;

/// Rewrite that fixes a finding.
pub struct Suggestion<'r> {
    /// Rule of the rewrite.
    pub rule: &'r Rule,
    /// Change of the model.
    pub patch: Patch,
    /// Index of the fixed finding; `None` for a rule that reports its own findings.
    pub finding: Option<usize>,
    /// Whether the rewrite matches the first node of the finding; false if it only matches later nodes.
    pub is_at_place: bool,
}

/// Returns the rewrites that fix `findings`, and all rewrites of rules that report their own findings.
///
/// Fixes of baked sizes may repair only a part of the data flow.
pub fn raw<'r>(cx: &LintContext, rules: &[&'r Rule], findings: &[Finding]) -> Vec<Suggestion<'r>> {
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
