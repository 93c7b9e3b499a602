//! Tests on Python snippets, with the expected findings marked on each line.
//!
//! `#! rule` at the end of a line expects a finding of that rule at level warning or above. `#? rule` expects
//! a finding at level info or hint. Findings that no line expects fail the test.

mod branches;
mod deviations;
mod exports;
mod faulty_calls;
mod functions;
mod imports;
mod indices;
mod memory;
mod near_misses;
mod remarks;
mod rewrites;
mod scripts;
mod snippets;
mod tables;
mod values;

use super::*;
use crate::diag::{Level, Rewrite};

/// First lines of each snippet.
const PRELUDE: &str = "import math\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\n\
                       from torch import nn, Tensor\n\n";

/// Checks the findings of a file against the marks on its lines.
#[track_caller]
fn check(source: &str) {
    let text = format!("{PRELUDE}{source}");
    let mut expected: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (mark, loud) in [("#! ", true), ("#? ", false)] {
            let rules = line.split_once(mark).map_or("", |(_, rules)| rules);
            expected.extend(rules.split_whitespace().map(|rule| format!("{} {rule} {loud}", number + 1)));
        }
    }
    let findings = lint(&text, "net.py", &SourceFiles::default());
    // The hint about static axes is not compared, because nearly every export has it.
    let mut reported: Vec<String> = findings
        .iter()
        .filter(|finding| &*finding.rule != "static-export")
        .map(|finding| {
            let line = finding.source.as_ref().map_or(0, |source| source.line);
            format!("{line} {} {}", finding.rule, finding.level >= Level::Warning)
        })
        .collect();
    reported.dedup();
    expected.sort();
    reported.sort();
    assert_eq!(reported, expected, "\n{source}");
}

/// Checks the findings of a body of `forward(self, x, k)` against the marks on its lines.
#[track_caller]
fn check_forward(body: &str) {
    check(&forward("", "x, k", body));
}

/// Returns a module with these bodies of `__init__` and `forward`.
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
fn marked_lines_of_the_pitfalls_are_found() {
    let source = include_str!("../../../tests/pitfalls/pitfalls.py");
    // The rules listed here need the graph.
    let beyond = ["baked-shape", "unsupported-op", "constant-output", "training-mode"];
    let marked = source
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.split_once("  # PITFALL: ")?.1)));
    let expected: Vec<String> = marked
        .filter(|(_, rule)| !beyond.contains(rule))
        .map(|(line, rule)| format!("{line} {rule}"))
        .collect();
    let reported: Vec<String> = lint(source, "pitfalls.py", &SourceFiles::default())
        .iter()
        .map(|finding| {
            format!("{} {}", finding.source.as_ref().map_or(0, |source| source.line), finding.rule)
        })
        .collect();
    assert_eq!(reported, expected);
}

#[test]
fn only_functions_of_the_graph_are_linted() {
    let source = format!(
        "{PRELUDE}def scale(t):\n    return t / t.max().item()\n\n{}\n{}",
        forward("", "x", "return scale(x) + x.sum().item()"),
        "class Other(nn.Module):\n    def forward(self, x):\n        return x + x.mean().item()\n"
    );
    let reported = |lines: &[u32]| -> Vec<u32> {
        let findings = lint_functions(&source, "net.py", lines, &SourceFiles::default());
        findings.iter().filter_map(|finding| finding.source.as_ref().map(|source| source.line)).collect()
    };
    assert_eq!(reported(&[]), Vec::<u32>::new());
    assert_eq!(reported(&[8]), vec![8]);
    assert_eq!(reported(&[15, 8]), vec![8, 15]);
    assert_eq!(reported(&[19]), vec![19]);
    assert_eq!(reported(&[1, 9999]), Vec::<u32>::new());
}

#[test]
fn branches_that_the_graph_did_not_take_are_skipped() {
    let source = format!(
        "{PRELUDE}{}",
        forward(
            "",
            "x, how='peak'",
            "if how == 'peak':\n    return x / x.max().item()\nif how == 'sum':\n    n = x.sum().item()\nelse:\n    n = \
             x.mean()\ny = x / n\nif x.sum() > 0:\n    y = y * x.min().item()\nreturn y"
        )
    );
    let reported = |lines: &[u32]| -> Vec<u32> {
        let findings = lint_functions(&source, "net.py", lines, &SourceFiles::default());
        findings.iter().filter_map(|finding| finding.source.as_ref().map(|source| source.line)).collect()
    };
    // Line 19 is the condition of the last `if`, which may leave no node in the graph.
    assert_eq!(reported(&[13]), [13, 15, 19, 20]);
    assert_eq!(reported(&[17, 18]), [19, 20]);
    assert_eq!(reported(&[18, 20]), [15, 19, 20]);
}

#[test]
fn invalid_and_deeply_nested_python_does_not_fail() {
    for text in [
        "",
        "class",
        "def f(:\n  x.item(\n",
        "class A(nn.Module):\n  def forward(self",
        "\u{feff}\0é(((",
        "\t\n x =",
    ] {
        let found = lint(text, "x.py", &SourceFiles::default());
        assert!(found.iter().all(|finding| &*finding.code == "REA001"), "{text:?}: {found:?}");
    }
    let deep = forward("", "x", &format!("return {}x.item(){}", "(".repeat(5000), ")".repeat(5000)));
    let _ = lint(&deep, "x.py", &SourceFiles::default());
    let sum = forward("", "x", &format!("return x{}", " + x".repeat(20000)));
    assert_eq!(lint(&sum, "x.py", &SourceFiles::default()), vec![]);
}

#[test]
fn recursive_functions_terminate() {
    check(&format!(
        "def f(t, n):\n    return f(t, n) + g(t)\n\ndef g(t):\n    return f(t, 1)\n\n{}",
        forward("", "x", "return f(x, 3) + self.forward(x)")
    ));
}
