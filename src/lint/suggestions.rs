//! What mends what was found: the rewrites of rules, planned where an analysis found their fault.
//!
//! `onnx-lint` promises what is planned here, and `onnx-fix` applies it: neither knows of a fix that the other does not.

use rustc_hash::FxHashMap;

use super::context::{LintContext, LintOptions, number};
use super::whole_flow::whole;
use crate::diag::{Applicability, Finding, Fix};
use crate::edit::Patch;
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::patch;
use crate::rules::rule::{Rule, Safety};

/// A rewrite that mends a finding.
pub struct Suggestion<'r> {
    /// The rule that it is by.
    pub rule: &'r Rule,
    /// What it does to the model.
    pub patch: Patch,
    /// Which of the findings it mends; `None` for a rule that reports itself.
    pub finding: Option<usize>,
    /// Whether it is about the very node that the finding points at, not another one of its nodes.
    pub is_at_place: bool,
}

/// What `rules` make of the nodes that `findings` are about: of a rule that mends the findings of an analysis, only
/// there; of others, wherever they match. Baked sizes are mended as `whole_flow` allows.
pub fn mends<'r>(cx: &LintContext, rules: &[&'r Rule], findings: &[Finding]) -> Vec<Suggestion<'r>> {
    whole(cx, rules, raw(cx, rules, findings))
}

/// As [`mends`], each by itself.
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
                    let finding = rule.mends.as_deref().and_then(at);
                    if rule.mends.is_some() && finding.is_none() {
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

/// Has each finding that rules are to mend say so where one does, and nothing where none does. The words are those of
/// the analysis, where it has any.
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

/// Takes away a fix that needs a rule to carry it out.
fn withdrawn(finding: &mut Finding, options: &LintOptions) -> Option<Fix> {
    if options.rules.mends(&finding.code) { finding.fix.take() } else { None }
}

/// What `onnx-fix` does, named by the rule: `--explain` has the rest.
pub(super) fn fix(rule: &Rule) -> Fix {
    let is_unsafe = rule.safety == Safety::Unsafe;
    let applicability = if is_unsafe { Applicability::Unsafe } else { Applicability::Safe };
    Fix { applicability, summary: format!("rewrites it ({})", rule.code) }
}
