//! Linting: what is found in models given as ONNX text, and what is not in those that look alike.

mod spec;

use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;

/// Lints `text` and compares the findings of level warning and above, each as `CODE level: message`.
#[track_caller]
pub fn check(text: &str, expected: &[&str]) {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the text of the test has faults");
    let model = model.expect("a model");
    let found = lint_model(&model, &LintOptions::default());
    let said = |finding: &onnx_lint::diag::Finding| {
        (finding.level >= onnx_lint::diag::Level::Warning)
            .then(|| format!("{} {}: {}", finding.code, finding.level, finding.message))
    };
    let found: Vec<String> = found.iter().filter_map(said).collect();
    assert_eq!(found, expected);
}

/// As [`check`], for the nodes of a graph `g` at opset 17.
#[track_caller]
pub fn check_graph(signature: &str, nodes: &str, expected: &[&str]) {
    let text = format!("<ir_version: 8, opset_import: [\"\" : 17]>\ng {signature} {{\n{nodes}\n}}");
    check(&text, expected);
}
