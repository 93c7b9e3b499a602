//! `--statistics`: the number of findings of each rule.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diag::Finding;
use crate::diag::render::{Format, summary};

#[derive(Serialize)]
struct Row<'a> {
    code: &'a str,
    rule: &'a str,
    count: usize,
    fixable: usize,
}

/// Returns a row for each rule, the most frequent first, and the summary.
/// For JSON formats, returns an array of rows without a summary.
pub fn statistics(findings: &[Finding], format: Format) -> String {
    let rows = rows(findings);
    if matches!(format, Format::Json | Format::JsonLines) {
        return serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n";
    }
    let width = rows.first().map_or(0, |row| row.count.to_string().len());
    let line = |row: &Row| {
        let mark = if row.fixable > 0 { "[*]" } else { "[ ]" };
        format!("{:>width$}  {}  {mark} {}\n", row.count, row.code, row.rule)
    };
    rows.iter().map(line).collect::<String>() + &summary(findings) + "\n"
}

fn rows(findings: &[Finding]) -> Vec<Row<'_>> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for finding in findings {
        let new = Row { code: &finding.code, rule: &finding.rule, count: 0, fixable: 0 };
        let row = rows.entry(&finding.code).or_insert(new);
        row.count += 1;
        row.fixable += usize::from(finding.fix.is_some());
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
