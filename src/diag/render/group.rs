//! Groups of similar findings.

use indexmap::IndexMap;

use super::spot::{node_path, spot};
use crate::diag::Finding;

/// Maximum number of similar findings shown individually.
const SHOWN_EACH: usize = 3;

/// Maximum number of locations listed for similar findings that are not shown.
const NAMED: usize = 5;

/// Finding that is shown, with the similar findings that are only counted.
#[derive(Debug)]
pub struct Group<'a> {
    pub first: &'a Finding,
    pub more: Vec<&'a Finding>,
}

impl Group<'_> {
    /// Returns `999 more like this, at …`; `None` for a single finding.
    pub fn others(&self) -> Option<String> {
        let mut places: Vec<String> = self.more.iter().map(|finding| place(finding, self.first)).collect();
        places.dedup();
        places.retain(|place| !place.is_empty());
        let rest = if places.len() > NAMED { ", …" } else { "" };
        let places = places.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let what = format!("{} more like this", self.more.len());
        let text = if places.is_empty() { what } else { format!("{what}, at {places}{rest}") };
        (!self.more.is_empty()).then_some(text)
    }
}

fn place(finding: &Finding, first: &Finding) -> String {
    let node = finding.place.graph().map(node_path).filter(|node| !node.is_empty());
    match (node, finding.file == first.file) {
        (Some(node), true) => format!("`{node}`"),
        (Some(node), false) => format!("`{node}` of {}", finding.file),
        (None, false) => finding.file.to_string(),
        (None, true) => {
            finding.source.as_ref().map_or(String::new(), |at| format!("{}:{}", at.file, at.line))
        }
    }
}

/// Groups similar findings: same file, rule, level, wording and Python line.
///
/// Similar findings are not grouped if there are at most [`SHOWN_EACH`] of them.
pub fn by_model(findings: &[Finding]) -> Vec<Group<'_>> {
    let key = |finding: &Finding| {
        let line = finding.source.as_ref().map(|source| (source.file.to_string(), source.line));
        let words = skeleton(&finding.message);
        (finding.file.to_string(), finding.code.to_string(), finding.level, words, line)
    };
    let groups = groups(findings, key).into_values();
    let mut groups: Vec<Vec<usize>> = groups
        .flat_map(|group| match group.len() > SHOWN_EACH {
            true => vec![group],
            false => group.into_iter().map(|one| vec![one]).collect(),
        })
        .collect();
    groups.sort_by_key(|group| group[0]);
    groups.iter().map(|group| made(findings, group)).collect()
}

/// Groups findings of one rule and level at one line, because services show only one of them.
///
/// Findings without a line are grouped if they have the same wording.
pub fn by_line(findings: &[Finding]) -> Vec<Group<'_>> {
    let key = |finding: &Finding| {
        let spot = spot(finding);
        let words = if spot.line > 0 { String::new() } else { skeleton(&finding.message) };
        (spot.file.to_owned(), spot.line, finding.code.to_string(), finding.level, words)
    };
    groups(findings, key).into_values().map(|group| made(findings, &group)).collect()
}

/// Groups the indices of findings by key.
fn groups<K: std::hash::Hash + Eq>(
    findings: &[Finding],
    key: impl Fn(&Finding) -> K,
) -> IndexMap<K, Vec<usize>> {
    let mut groups: IndexMap<K, Vec<usize>> = IndexMap::new();
    for (index, finding) in findings.iter().enumerate() {
        groups.entry(key(finding)).or_default().push(index);
    }
    groups
}

fn made<'a>(findings: &'a [Finding], group: &[usize]) -> Group<'a> {
    Group { first: &findings[group[0]], more: group[1..].iter().map(|&index| &findings[index]).collect() }
}

/// Removes names and numbers from a message.
fn skeleton(message: &str) -> String {
    let outside = message.split('`').step_by(2).collect::<Vec<_>>().join("`");
    outside.chars().filter(|char| !char.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::diag::{Level, Place};

    fn finding(file: &str, message: &str) -> Finding {
        let finding = Finding::new("IDX005", "boolean-mask", Level::Info, message, Place::File);
        Finding { file: Arc::from(file), ..finding }
    }

    #[test]
    fn similar_findings_are_grouped() {
        let many: Vec<Finding> =
            (0..1000).map(|index| finding("a.onnx", &format!("`n{index}` takes {index}"))).collect();
        let groups = by_model(&many);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].others().as_deref(), Some("999 more like this"));
        assert_eq!(by_model(&many[..3]).len(), 3);
        let two = [finding("a.onnx", "`x` is"), finding("b.onnx", "`y` is"), finding("b.onnx", "`y` was")];
        assert_eq!(by_model(&two).len(), 3);
    }

    #[test]
    fn findings_at_one_line_are_grouped() {
        let source = crate::diag::SourcePlace {
            file: Arc::from("net.py"),
            line: 3,
            column: 0,
            width: 0,
            code: None,
            function: None,
            cell: None,
        };
        let at_line = |file| Finding {
            is_here: true,
            source: Some(source.clone()),
            ..finding(file, &format!("in {file}"))
        };
        let findings = [at_line("a.onnx"), at_line("b.onnx"), finding("c.onnx", "in c.onnx")];
        let groups = by_line(&findings);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].others().as_deref(), Some("1 more like this, at b.onnx"));
    }
}
