//! `onnx-lint` and `onnx-fix` as a WebAssembly module: a model becomes a report or a fixed model.

mod border;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use onnx_lint::diag::render::{Format, Look, ModelSummary, Page, Run, render};
use onnx_lint::files::ModelFormat;
use onnx_lint::fix::Options;
use onnx_lint::graph::uses::Uses;
use onnx_lint::graph::{Id as _, Model, NodeId};
use onnx_lint::infer::{self, infer};
use onnx_lint::lint::picture::{Painter, summary};
use onnx_lint::read::{any, sniff};
use onnx_lint::{Finding, Level, LintOptions, RuleSet};

/// Lints a model in memory and returns the HTML report of `onnx-lint`.
/// The report shows neither hints, like `onnx-lint` by default, nor the changes that fixes would make.
pub fn page(name: &str, model: Vec<u8>) -> String {
    let bytes = Bytes::from(model);
    let (model, mut findings) = any::model(sniff::sniff(name, &bytes), bytes);
    if let Some(model) = &model {
        findings.extend(onnx_lint::lint(model, &LintOptions::default()));
    }
    findings.retain(|finding| finding.level > Level::Hint);
    let file: Arc<str> = Arc::from(name);
    findings.iter_mut().for_each(|finding| finding.file = file.clone());
    let facts = model.as_ref().map(|model| draw(model, &mut findings));
    let models: Vec<ModelSummary> =
        facts.into_iter().map(|facts| ModelSummary { file: file.clone(), facts }).collect();
    let pages = pages(&findings);
    let run = Run { files: &[file], findings: &findings, pages: &pages, models: &models };
    render(run, Format::Html, Look::default())
}

/// Fixes and optimizes a model like `onnx-fix`, with safe fixes, and returns it in the same format.
///
/// # Errors
/// The file is no valid model, a request cannot be fulfilled, or the result cannot be written.
pub fn fixed(name: &str, model: Vec<u8>) -> Result<Vec<u8>, String> {
    let bytes = Bytes::from(model);
    let kind = sniff::sniff(name, &bytes);
    let (model, faults) = any::model(kind, bytes);
    blocked(&faults)?;
    let outcome = onnx_lint::fix(model.ok_or("it is no model")?, &Options::default(), &RuleSet::patterns());
    blocked(&outcome.findings)?;
    let pieces = ModelFormat::of_kind(kind).encode(&outcome.model)?;
    Ok(pieces.ok_or("the model is too large")?.concat())
}

/// Returns the message of the first error, if there is one.
fn blocked(findings: &[Finding]) -> Result<(), String> {
    let error = findings.iter().find(|finding| finding.level == Level::Error);
    error.map_or(Ok(()), |finding| Err(finding.message.to_string()))
}

/// Adds a picture of the surrounding graph to each finding.
/// Returns a summary of the model, as pairs of name and value.
fn draw(model: &Model, findings: &mut [Finding]) -> Vec<(&'static str, String)> {
    let facts = infer(model, infer::Options::default());
    let uses = Uses::new(model);
    let painter = Painter::new(model, &facts, &uses);
    for finding in findings {
        let nodes = finding.nodes.iter().map(|&node| NodeId::from_index(node as usize));
        let nodes: Vec<NodeId> = nodes.filter(|node| node.index() < model.nodes.len()).collect();
        finding.picture = painter.around(&nodes).map(Box::new);
    }
    summary(model, &facts)
}

/// Returns the pages of the rules that have findings.
fn pages(findings: &[Finding]) -> Vec<Page> {
    if findings.is_empty() {
        return Vec::new();
    }
    let (rules, _) = RuleSet::embedded();
    let codes: BTreeSet<&str> = findings.iter().map(|finding| &*finding.code).collect();
    let rules = codes.iter().filter_map(|code| rules.get(code));
    let page = |rule: &onnx_lint::rules::rule::Rule| Page {
        code: rule.code.to_string(),
        summary: rule.summary().to_owned(),
        level: rule.severity,
        text: rule.page(),
        url: None,
    };
    rules.map(page).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn report_of_a_model_in_memory_has_findings_and_pictures() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/pitfalls/exported/BakedBatch.ts17.onnx");
        let page = super::page("net.onnx", std::fs::read(path).expect("the model exists"));
        assert!(
            page.contains("Found 1 error") && page.contains("<svg") && page.contains("rule-EXP001"),
            "{page}"
        );
        assert!(super::page("net.onnx", vec![1, 2, 3]).contains("SPC001"));
    }

    #[test]
    fn fixed_model_has_no_more_fixable_findings() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/pitfalls/exported/BakedBatch.ts17.onnx");
        let fixed = super::fixed("net.onnx", std::fs::read(path).expect("the model exists"));
        let page = super::page("net.onnx", fixed.expect("a model"));
        assert!(page.contains("All checks passed.") && page.contains("<dt>Opset</dt><dd>17</dd>"), "{page}");
        assert!(super::fixed("net.onnx", b"no model".to_vec()).is_err());
    }
}
