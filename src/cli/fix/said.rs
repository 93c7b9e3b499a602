//! The summary of changes that `onnx-fix` prints.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::diag::rule_ids::{DECLARED_TYPE, REQUESTED_SHAPE};
use crate::edit::Safety;
use crate::fix::report::Entry;
use crate::fix::{Outcome, Report};
use crate::graph::syntax::suggest::counted;
use crate::graph::{Model, scopes};

/// Renders the summary for standard error.
///
/// The summary has a headline, then a line for each kind of change, each unsafe change and each note.
pub fn told(name: &str, before: &Model, outcome: &Outcome) -> String {
    let report = &outcome.report;
    if !outcome.changed {
        return format!("{name}: nothing to change\n");
    }
    let mut text = format!("{name}: {}\n", headline(report));
    let kinds = kinds(&report.changes);
    for (summary, count) in kinds.iter().take(KINDS) {
        text += &format!("  {count:>4} × {summary}\n");
    }
    if kinds.len() > KINDS {
        let rest: usize = kinds[KINDS..].iter().map(|(_, count)| count).sum();
        text += &format!("  {rest:>4} × something else: --report says what\n");
    }
    text += &operators(before, &outcome.model);
    for change in report.unsafe_changes() {
        text += &format!("unsafe: {} {} at {}: {}\n", change.code, change.rule, change.node, change.summary);
    }
    text += &kept(report);
    for note in report.limits.iter().chain(&report.notes) {
        text += &format!("note: {note}\n");
    }
    text
}

/// Returns the headline, without unchanged parts.
///
/// Example: `opset 18 → 13, 83 changes by 17 rules, 339 → 221 nodes`.
fn headline(report: &Report) -> String {
    let mut parts = Vec::new();
    if report.opset.from != report.opset.to {
        let version = |version: Option<i64>| version.map_or("none".to_owned(), |version| version.to_string());
        parts.push(format!("opset {} → {}", version(report.opset.from), version(report.opset.to)));
    }
    let declares = |code: &str| [REQUESTED_SHAPE, DECLARED_TYPE].iter().any(|pass| pass.code == code);
    if report.changes.iter().any(|change| !declares(&change.code)) {
        let (changes, rules) = (report.changes.len(), report.rules.len());
        parts.push(format!("{} by {}", counted(changes, "change"), counted(rules, "rule")));
    }
    if report.nodes.before != report.nodes.after {
        parts.push(format!("{} → {} nodes", report.nodes.before, report.nodes.after));
    }
    if parts.is_empty() { "its declared types and shapes changed".to_owned() } else { parts.join(", ") }
}

/// Returns the counts of values that stay float32, by reason, the most frequent first.
fn kept(report: &Report) -> String {
    let mut reasons: IndexMap<&str, IndexMap<&str, usize>> = IndexMap::new();
    for node in &report.kept {
        *reasons.entry(&node.why).or_default().entry(&node.op).or_default() += 1;
    }
    let count = |ops: &IndexMap<&str, usize>| ops.values().sum::<usize>();
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, ops)| (std::cmp::Reverse(count(ops)), *why));
    let line = |(why, mut ops): (&str, IndexMap<&str, usize>)| {
        ops.sort_by(|a, m, b, n| n.cmp(m).then(a.cmp(b)));
        let rest = if ops.len() > COUNTED { ", …" } else { "" };
        let named: Vec<String> =
            ops.iter().take(COUNTED).map(|(op, count)| format!("{count} {op}")).collect();
        format!("  {:>4} × float32 still: {why} ({}{rest})\n", count(&ops), named.join(", "))
    };
    reasons.into_iter().map(line).collect()
}

/// The maximum number of kinds of changes to list.
const KINDS: usize = 16;

/// The maximum number of operators to list.
const COUNTED: usize = 8;

/// Returns the operators whose counts changed; empty if none did.
fn operators(before: &Model, after: &Model) -> String {
    let mut changes: BTreeMap<String, i64> = BTreeMap::new();
    for (model, sign) in [(before, -1), (after, 1)] {
        let graphs = scopes::live(model).into_iter();
        for &node in graphs.flat_map(|graph| &model.graphs[graph].nodes) {
            *changes.entry(model.nodes[node].op_name()).or_default() += sign;
        }
    }
    let line = |what: &str, sign: i64| {
        let mut ops: Vec<(i64, &String)> =
            changes.iter().map(|(op, change)| (change * sign, op)).filter(|(count, _)| *count > 0).collect();
        ops.sort_by_key(|&(count, op)| (std::cmp::Reverse(count), op));
        let rest = if ops.len() > COUNTED { ", …" } else { "" };
        let ops: Vec<String> = ops.iter().take(COUNTED).map(|(count, op)| format!("{count} {op}")).collect();
        if ops.is_empty() { String::new() } else { format!("  {what}: {}{rest}\n", ops.join(", ")) }
    };
    line("fewer", -1) + &line("more", 1)
}

/// Returns the counts of safe changes by kind, the most frequent first.
fn kinds(changes: &[Entry]) -> Vec<(&str, usize)> {
    let mut kinds: IndexMap<&str, usize> = IndexMap::new();
    for change in changes.iter().filter(|change| change.safety != Safety::Unsafe) {
        *kinds.entry(&change.summary).or_default() += 1;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(summary, count)| (std::cmp::Reverse(count), summary));
    kinds
}
