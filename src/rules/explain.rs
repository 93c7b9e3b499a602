//! Rules for people: the list of all, and the page of one.

use super::rule::{Body, Phase, Rule, Safety};

/// A line of `--list-rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'r> {
    pub code: &'r str,
    pub name: &'r str,
    pub severity: &'static str,
    /// What `onnx-fix` does about it: "safe", "unsafe", or nothing.
    pub fix: Option<&'static str>,
    /// The first line of its docs.
    pub summary: &'r str,
}

impl Rule {
    /// The first line of its docs.
    pub fn summary(&self) -> &str {
        self.docs.lines().next().unwrap_or("").trim()
    }

    /// As a line of the list of all rules.
    pub fn listed(&self) -> Listed<'_> {
        let fix = match self.safety {
            _ if self.is_lint_only() => None,
            Safety::Unsafe => Some("unsafe"),
            Safety::Exact | Safety::Rounding => Some("safe"),
        };
        Listed {
            code: &self.code,
            name: &self.name,
            severity: self.severity.name(),
            fix,
            summary: self.summary(),
        }
    }

    /// Its page in Markdown: what it is for, what it does, and its examples as they stand in its file.
    pub fn page(&self) -> String {
        let mut page = format!("# {} {}\n\n{}\n", self.code, self.name, self.docs.trim_end());
        page.push_str(&format!("\nSeverity: {}. {}\n", self.severity, self.what_it_does()));
        for given in &self.given {
            page.push_str(&format!(
                "\nIt takes for granted that `{}` {}.\n",
                given.value,
                given.what.meaning()
            ));
        }
        if !self.examples.is_empty() {
            page.push_str("\n## Examples\n");
        }
        for example in &self.examples {
            let text = unindented(self.source.source.slice(example.span));
            page.push_str(&format!("\n```\n{text}\n```\n"));
        }
        page
    }

    fn what_it_does(&self) -> &'static str {
        match (&self.body, self.phase, self.safety) {
            (Body::Builtin(_), ..) => "Found by code.",
            _ if self.is_lint_only() => "It only reports.",
            (_, Phase::Lower, _) => "onnx-fix uses it to convert what PyTorch traced.",
            (_, Phase::Convert, _) => "onnx-fix uses it to convert between opsets.",
            (_, _, Safety::Exact) => "onnx-fix mends it, and every element stays as it is.",
            (_, _, Safety::Rounding) => "onnx-fix mends it; elements may differ by rounding.",
            (_, _, Safety::Unsafe) => "onnx-fix mends it with --unsafe-fixes: results may change.",
        }
    }
}

/// Without what all lines but the first begin with.
fn unindented(text: &str) -> String {
    let rest = || text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = rest().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { line } else { line.get(indent..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}
