//! Human-readable descriptions of rules: the list of all, and the page of each.

use super::rule::{Body, Phase, Rule, Safety};

/// Line of `--list-rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'r> {
    pub code: &'r str,
    pub name: &'r str,
    pub severity: &'static str,
    /// Kind of fix that `onnx-fix` applies: "safe", "unsafe", or none.
    pub fix: Option<&'static str>,
    /// First line of the docs of the rule.
    pub summary: &'r str,
}

impl Rule {
    /// Returns the first line of the docs.
    pub fn summary(&self) -> &str {
        self.docs.lines().next().unwrap_or("").trim()
    }

    /// Returns the line of this rule in the list of rules.
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

    /// Renders the page of the rule in Markdown: docs, effect, assumptions, and examples as in the file.
    pub fn page(&self) -> String {
        let mut page = format!("# {} {}\n\n{}\n", self.code, self.name, self.docs.trim_end());
        if let Some(remark) = self.status.remark() {
            page.push_str(&format!("\nStatus: {remark}.\n"));
        }
        page.push_str(&format!("\nSeverity: {}. {}\n", self.severity, self.what_it_does()));
        for assumed in &self.assumptions {
            page.push_str(&format!("\nAssumes that `{}` {}.\n", assumed.value, assumed.what.meaning()));
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
            (Body::Builtin(_), ..) => "Built-in analysis (not a pattern rule).",
            _ if self.is_lint_only() => "Reported only; there is no fix.",
            (_, Phase::Lower, _) => "onnx-fix uses the rule to lower PyTorch operators to ONNX.",
            (_, Phase::Prove, _) => "onnx-diff uses the rule in proofs; onnx-fix does not apply it.",
            (_, Phase::Convert, _) => "onnx-fix uses the rule to convert models to other opsets or targets.",
            (_, Phase::Explore, Safety::Exact) => {
                "onnx-fix applies the rewrite where it lowers the cost; results stay exactly equal."
            }
            (_, Phase::Explore, Safety::Rounding) => {
                "onnx-fix applies the rewrite where it lowers the cost; results may differ by rounding."
            }
            (_, _, Safety::Exact) => "onnx-fix applies the rewrite; results stay exactly equal.",
            (_, _, Safety::Rounding) => "onnx-fix applies the rewrite; results may differ by rounding.",
            (_, _, Safety::Unsafe) => "onnx-fix applies the rewrite with --unsafe-fixes; results may change.",
        }
    }
}

/// Removes the common indentation of all lines but the first.
fn unindented(text: &str) -> String {
    let rest = || text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = rest().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { line } else { line.get(indent..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}
