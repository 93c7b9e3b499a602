//! Findings in faulty models, Python sources, traces and logs, and no findings in similar correct ones.

mod export;
mod export_sizes;
mod index;
mod logs;
mod operators;
mod python;
mod quantised;
mod shapes;
mod simpler;
mod spec;
mod torch_export;
mod traces;
mod types;

use std::sync::Arc;

use onnx_lint::diag::Selection;
use onnx_lint::graph::Model;
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;

/// Returns options for the built-in analyses, without pattern rules.
fn by_code() -> LintOptions {
    LintOptions { rules: Arc::default(), ..LintOptions::default() }
}

/// Lints `text` and compares the findings of level warning and above, each as `CODE level: message`.
#[track_caller]
pub fn check(text: &str, expected: &[&str]) {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the model of the test is invalid");
    let model = model.expect("a model");
    let found = lint_model(&model, &by_code());
    let labeled = |finding: &onnx_lint::diag::Finding| {
        (finding.level >= onnx_lint::diag::Level::Warning)
            .then(|| format!("{} {}: {}", finding.code, finding.level, finding.message))
    };
    let found: Vec<String> = found.iter().filter_map(labeled).collect();
    assert_eq!(found, expected);
}

/// Like [`check`], for the nodes of a graph `g` at opset 17.
#[track_caller]
pub fn check_graph(signature: &str, nodes: &str, expected: &[&str]) {
    let text = format!("<ir_version: 8, opset_import: [\"\" : 17]>\ng {signature} {{\n{nodes}\n}}");
    check(&text, expected);
}

/// Like [`check`], for a graph at an opset of ai.onnx; compares findings without messages.
#[track_caller]
pub fn finds(opset: i64, graph: &str, expected: &[&str]) {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : {opset}, \"local\" : 1, \"com.microsoft\" : 1]>\n{graph}"
    );
    finds_in(&text, expected);
}

/// Like [`finds`], for a whole model.
#[track_caller]
pub fn finds_in(text: &str, expected: &[&str]) {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the model of the test is invalid");
    let found = lint_model(&model.expect("a model"), &by_code());
    let loud = found.iter().filter(|finding| finding.level >= onnx_lint::diag::Level::Warning);
    let loud: Vec<&onnx_lint::diag::Finding> = loud.collect();
    let codes: Vec<String> =
        loud.iter().map(|finding| format!("{} {}", finding.code, finding.level)).collect();
    let messages: Vec<&str> = loud.iter().map(|finding| &*finding.message).collect();
    assert_eq!(codes, expected, "{messages:#?}\nin {text}");
}

/// Returns the codes of one family found in a graph at an opset of ai.onnx.
#[track_caller]
pub fn said_of(family: &str, opset: i64, graph: &str) -> Vec<String> {
    found_in(family, model_of(opset, graph))
}

/// Reads a graph at an opset of ai.onnx.
#[track_caller]
pub fn model_of(opset: i64, graph: &str) -> Model {
    let (model, findings) =
        read::text::read(&format!("<ir_version: 8, opset_import: [\"\" : {opset}]>\n{graph}"));
    assert_eq!(findings, [], "the model of the test is invalid");
    model.expect("a model")
}

/// Returns the codes of one family found by analyses and pattern rules, at any level.
pub fn found_in(family: &str, model: Model) -> Vec<String> {
    let selection = Selection::new(vec![family.to_owned()], Vec::new());
    let options =
        LintOptions { selection, rules: Arc::new(RuleSet::for_linting()), ..LintOptions::default() };
    let found = lint_model(&model, &options);
    found.into_iter().map(|finding| finding.code.to_string()).collect()
}
