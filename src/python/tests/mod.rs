//! Snippets of Python, and what is said of each of their lines.
//!
//! A line that ends in `#! rule` must be named by that rule, one in `#? rule` by it at level info or
//! hint; no other line may be named at all.

mod branches;
mod imports;
mod indices;
mod memory;
mod rewrites;
mod values;

use super::*;
use crate::diag::{Level, Rewrite};

/// What every snippet begins with.
const PRELUDE: &str = "import math\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\n\
                       from torch import nn, Tensor\n\n";

/// Checks a whole file.
#[track_caller]
fn check(source: &str) {
    let text = format!("{PRELUDE}{source}");
    let mut wanted: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (mark, loud) in [("#! ", true), ("#? ", false)] {
            let rules = line.split_once(mark).map_or("", |(_, rules)| rules);
            wanted.extend(rules.split_whitespace().map(|rule| format!("{} {rule} {loud}", number + 1)));
        }
    }
    let findings = lint(&text, "net.py", &SourceFiles::default());
    let mut said: Vec<String> = findings
        .iter()
        .map(|finding| {
            let line = finding.source.as_ref().map_or(0, |source| source.line);
            format!("{line} {} {}", finding.rule, finding.level >= Level::Warning)
        })
        .collect();
    said.dedup();
    wanted.sort();
    said.sort();
    assert_eq!(said, wanted, "\n{source}");
}

/// Checks statements as the body of `forward(self, x, k)`.
#[track_caller]
fn check_forward(body: &str) {
    check(&forward("", "x, k", body));
}

/// A module whose `__init__` and `forward` have these bodies.
fn forward(init: &str, parameters: &str, body: &str) -> String {
    let indented = |code: &str| code.lines().map(|line| format!("        {line}\n")).collect::<String>();
    let init = if init.is_empty() { "pass" } else { init };
    format!(
        "class Net(nn.Module):\n    def __init__(self):\n{}\n    def forward(self, {parameters}):\n{}",
        indented(init),
        indented(body)
    )
}

#[test]
fn the_pitfalls() {
    let source = include_str!("../../../tests/pitfalls/pitfalls.py");
    // What the source alone cannot tell.
    let beyond = ["baked-shape", "unsupported-op", "constant-output", "training-mode"];
    let marked = source
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.split_once("  # PITFALL: ")?.1)));
    let wanted: Vec<String> = marked
        .filter(|(_, rule)| !beyond.contains(rule))
        .map(|(line, rule)| format!("{line} {rule}"))
        .collect();
    let said: Vec<String> = lint(source, "pitfalls.py", &SourceFiles::default())
        .iter()
        .map(|finding| {
            format!("{} {}", finding.source.as_ref().map_or(0, |source| source.line), finding.rule)
        })
        .collect();
    assert_eq!(said, wanted);
}

#[test]
fn behind_a_graph_only_its_functions_are_looked_at() {
    let source = format!(
        "{PRELUDE}def scale(t):\n    return t / t.max().item()\n\n{}\n{}",
        forward("", "x", "return scale(x) + x.sum().item()"),
        "class Other(nn.Module):\n    def forward(self, x):\n        return x + x.mean().item()\n"
    );
    let said = |lines: &[u32]| -> Vec<u32> {
        let findings = lint_functions(&source, "net.py", lines, &SourceFiles::default());
        findings.iter().filter_map(|finding| finding.source.as_ref().map(|source| source.line)).collect()
    };
    assert_eq!(said(&[]), Vec::<u32>::new());
    assert_eq!(said(&[8]), vec![8]);
    assert_eq!(said(&[15, 8]), vec![8, 15]);
    assert_eq!(said(&[19]), vec![19]);
    assert_eq!(said(&[1, 9999]), Vec::<u32>::new());
}

#[test]
fn behind_a_graph_a_branch_that_it_did_not_take_is_passed_by() {
    let source = format!(
        "{PRELUDE}{}",
        forward(
            "",
            "x, how='peak'",
            "if how == 'peak':\n    return x / x.max().item()\nif how == 'sum':\n    n = x.sum().item()\nelse:\n    n = \
             x.mean()\ny = x / n\nif x.sum() > 0:\n    y = y * x.min().item()\nreturn y"
        )
    );
    let said = |lines: &[u32]| -> Vec<u32> {
        let findings = lint_functions(&source, "net.py", lines, &SourceFiles::default());
        findings.iter().filter_map(|finding| finding.source.as_ref().map(|source| source.line)).collect()
    };
    // The last but one says that it is decided once, and what it decides on may leave no node.
    assert_eq!(said(&[13]), [13, 15, 19, 20]);
    assert_eq!(said(&[17, 18]), [19, 20]);
    assert_eq!(said(&[18, 20]), [15, 19, 20]);
}

#[test]
fn faulty_python_is_read_as_far_as_it_goes() {
    for text in [
        "",
        "class",
        "def f(:\n  x.item(\n",
        "class A(nn.Module):\n  def forward(self",
        "\u{feff}\0é(((",
        "\t\n x =",
    ] {
        assert_eq!(lint(text, "x.py", &SourceFiles::default()), vec![], "{text:?}");
    }
    let deep = forward("", "x", &format!("return {}x.item(){}", "(".repeat(5000), ")".repeat(5000)));
    let _ = lint(&deep, "x.py", &SourceFiles::default());
    let sum = forward("", "x", &format!("return x{}", " + x".repeat(20000)));
    assert_eq!(lint(&sum, "x.py", &SourceFiles::default()), vec![]);
}

#[test]
fn recursion_ends() {
    check(&format!(
        "def f(t, n):\n    return f(t, n) + g(t)\n\ndef g(t):\n    return f(t, 1)\n\n{}",
        forward("", "x", "return f(x, 3) + self.forward(x)")
    ));
}
