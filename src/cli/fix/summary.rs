//! The summary of changes that `onnx-fix` prints.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::display::Display;
use super::operators::{Operator, operators};
use super::table::table;
use crate::cli::paint::{Style, paint};
use crate::diag::Selection;
use crate::diag::counted;
use crate::diag::render::wrapped;
use crate::diag::rule_ids::{DECLARED_TYPE, REQUESTED_SHAPE};
use crate::edit::{Kind, Safety};
use crate::fix::report::Entry;
use crate::fix::{Outcome, Report};
use crate::graph::Model;

/// Maximum number of operators, texts or rules in a list, unless the output is verbose.
const LISTED: usize = 8;

/// Minimum width of the last column, even if lines become longer than the terminal is wide.
const MIN_TEXT: usize = 24;

/// Renders the summary for standard error.
///
/// The summary has a headline, rows of safe changes and of nodes that stay float32, the operators whose
/// number of nodes changed, the unsafe changes, and notes.
pub fn summary(name: &str, before: &Model, outcome: &Outcome, display: Display) -> String {
    let report = &outcome.report;
    let bold = |text: &str| paint(display.look, Style::Bold, text);
    let notes = notes(report, display);
    if !outcome.changed {
        return format!("{}: nothing to change\n{notes}", bold(name));
    }
    let mut text = format!("{}: {}\n", bold(name), headline(report));
    text += &lines(&rows(report), &kept(report, display), display);
    let operators = operators(before, &outcome.model);
    text += &match display.table {
        true => table(&operators, report, display),
        false => differences(&operators, display),
    };
    for change in report.unsafe_changes() {
        let label = paint(display.look, Style::Yellow, "unsafe");
        text += &format!("{label}: {} {} at {}: {}\n", change.code, change.rule, change.node, change.summary);
    }
    text + &notes
}

/// Returns the notes, and with `--verbose` the limits that the search reached.
fn notes(report: &Report, display: Display) -> String {
    let limits = report.limits.iter().filter(|_| display.verbose);
    let notes = limits.chain(&report.notes);
    notes.map(|note| format!("{}: {note}\n", paint(display.look, Style::Bold, "note"))).collect()
}

/// Returns a note about changes that were made although `--ignore` lists their codes.
///
/// An ignored change is made if a conversion requires it, or if another change left a node unused.
pub fn required_changes(report: &Report, ignored: &Selection, display: Display) -> String {
    let applied = report.changes.iter().filter(|change| ignored.ignores(&change.code));
    let applied: BTreeSet<String> =
        applied.map(|change| format!("{} (pass {})", change.code, change.pass)).collect();
    if applied.is_empty() {
        return String::new();
    }
    let applied = applied.into_iter().collect::<Vec<_>>().join(", ");
    let label = paint(display.look, Style::Bold, "note");
    format!("{label}: ignored, but required by other changes: {applied}\n")
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
    if parts.is_empty() { "declared types and shapes changed".to_owned() } else { parts.join(", ") }
}

/// The safe changes of one kind by one rule.
struct Row<'a> {
    kind: Kind,
    code: &'a str,
    rule: &'a str,
    count: usize,
    /// Operators or descriptions, with their counts.
    texts: IndexMap<&'a str, usize>,
    /// Other rules that contributed to these changes, with their counts.
    also: IndexMap<&'a str, usize>,
}

/// Returns a row for each kind and rule, sorted by kind and then by count.
fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut rows: BTreeMap<(Kind, &str), Row> = BTreeMap::new();
    for change in report.changes.iter().filter(|change| change.safety != Safety::Unsafe) {
        let (code, rule) = (&*change.code, &*change.rule);
        let new =
            || Row { kind: change.kind, code, rule, count: 0, texts: IndexMap::new(), also: IndexMap::new() };
        let row = rows.entry((change.kind, code)).or_insert_with(new);
        row.count += 1;
        *row.texts.entry(text(change)).or_default() += 1;
        for code in &change.also {
            *row.also.entry(code).or_default() += 1;
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| (row.kind, Reverse(row.count), row.code));
    rows
}

/// Returns the operator if operator and kind suffice to describe the change, else the description.
fn text(change: &Entry) -> &str {
    match &change.op {
        Some(op) if lists_operators(change.kind) => op,
        _ => &change.summary,
    }
}

/// Returns true if the operator and this kind suffice to describe a change.
fn lists_operators(kind: Kind) -> bool {
    matches!(kind, Kind::Folded | Kind::Merged | Kind::Removed)
}

impl Row<'_> {
    /// Returns the last column: what was changed, and which other rules contributed.
    fn text(&self, display: Display) -> String {
        let mut text = match self.texts.first() {
            Some((only, _)) if self.texts.len() == 1 => (*only).to_owned(),
            _ if lists_operators(self.kind) => list(&self.texts, display),
            _ => descriptions(&self.texts, display),
        };
        if !self.also.is_empty() {
            let codes = by_count(&self.also).map(|(code, _)| code.to_owned()).collect();
            text += &format!(" (with {})", cut(codes, ", ", display));
        }
        text
    }
}

/// Lists operators, the most frequent first: `3 Add, 1 Mul`.
fn list(operators: &IndexMap<&str, usize>, display: Display) -> String {
    cut(by_count(operators).map(|(operator, count)| format!("{count} {operator}")).collect(), ", ", display)
}

/// Lists descriptions, the most frequent first: `3 × computed in float16; IR version updated`.
fn descriptions(texts: &IndexMap<&str, usize>, display: Display) -> String {
    let text = |(text, count): (&str, usize)| match count {
        1 => text.to_owned(),
        count => format!("{count} × {text}"),
    };
    cut(by_count(texts).map(text).collect(), "; ", display)
}

fn by_count<'a>(items: &IndexMap<&'a str, usize>) -> impl Iterator<Item = (&'a str, usize)> {
    let mut items: Vec<(&str, usize)> = items.iter().map(|(item, count)| (*item, *count)).collect();
    items.sort_by_key(|&(item, count)| (Reverse(count), item));
    items.into_iter()
}

/// Joins items; at most [`LISTED`] of them, unless the output is verbose.
fn cut(mut items: Vec<String>, separator: &str, display: Display) -> String {
    if items.len() > LISTED && !display.verbose {
        items.truncate(LISTED);
        items.push("…".to_owned());
    }
    items.join(separator)
}

/// Returns the number of nodes that stay float32 for each reason, the most frequent first.
fn kept(report: &Report, display: Display) -> Vec<(usize, String)> {
    let mut reasons: BTreeMap<&str, IndexMap<&str, usize>> = BTreeMap::new();
    for node in &report.kept {
        *reasons.entry(&node.why).or_default().entry(&node.op).or_default() += 1;
    }
    let line = |(why, ops): (&str, IndexMap<&str, usize>)| {
        let count: usize = ops.values().sum();
        (count, format!("float32: {why} ({})", list(&ops, display)))
    };
    let mut kept: Vec<(usize, String)> = reasons.into_iter().map(line).collect();
    kept.sort_by_key(|(count, _)| Reverse(*count));
    kept
}

/// Aligns the rows: kind, count, code, name and text.
/// Each kind is printed only in the first of its rows.
fn lines(rows: &[Row], kept: &[(usize, String)], display: Display) -> String {
    const KEPT: &str = "kept";
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let kind = widest(&mut rows.iter().map(|row| row.kind.name().len()).chain([KEPT.len()]));
    let counts = rows.iter().map(|row| row.count).chain(kept.iter().map(|(count, _)| *count));
    let count = widest(&mut counts.map(|count| count.to_string().len()));
    let code = widest(&mut rows.iter().map(|row| row.code.len()));
    let rule = widest(&mut rows.iter().map(|row| row.rule.len()));
    let mut lines = String::new();
    let mut last = "";
    let mut line = |name: &'static str, number: usize, columns: &[(Style, &str, usize)], text: &str| {
        let shown = if name == last { "" } else { name };
        last = name;
        let mut line =
            format!("  {} {number:>count$} ×", paint(display.look, Style::Bold, &format!("{shown:<kind$}")));
        let mut indent = 2 + kind + 1 + count + 2;
        for (style, column, width) in columns {
            line += &format!(" {} ", paint(display.look, *style, &format!("{column:<width$}")));
            indent += 2 + width;
        }
        let room = display.look.room(indent + 1).max(MIN_TEXT);
        line += &format!(" {}", wrapped(text, room, indent + 1));
        lines += line.trim_end();
        lines += "\n";
    };
    for row in rows {
        let columns = [(Style::Cyan, row.code, code), (Style::Dim, row.rule, rule)];
        line(row.kind.name(), row.count, &columns, &row.text(display));
    }
    for (count, text) in kept {
        line(KEPT, *count, &[], text);
    }
    lines
}

/// Returns the lines `fewer` and `more`, which list the operators whose number of nodes changed.
fn differences(operators: &[Operator], display: Display) -> String {
    let line = |label: &str, is_listed: &dyn Fn(&Operator) -> bool| {
        let listed = operators.iter().filter(|operator| is_listed(operator));
        let item =
            |operator: &Operator| format!("{} {}", operator.before.abs_diff(operator.after), operator.name);
        let items: Vec<String> = listed.map(item).collect();
        match items.is_empty() {
            true => String::new(),
            false => format!("  {label}: {}\n", cut(items, ", ", display)),
        }
    };
    line("fewer", &|operator| operator.after < operator.before)
        + &line("more", &|operator| operator.after > operator.before)
}
