//! Lints one file of any kind: findings of its reader, of the rules, and of the Python sources.

pub mod accepted;
mod facts;
mod forms;
pub mod input;
mod logged;
mod program;
mod python_sources;
mod remote;

pub use accepted::Accepted;
pub use facts::Facts;
pub use input::Input;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::diag::rule_ids;
use crate::diag::{Finding, Place, RuleId, Sink};
use crate::graph::Model;
use crate::graph::syntax::TextSpans;
use crate::lint::{self, LintOptions};
use crate::read::sniff::{Kind, sniff};
use crate::read::{any, torchscript};
use crate::{export_log, python, torch};

/// Findings of a file.
#[derive(Debug, Default)]
pub struct Linted {
    /// Findings in file order, whichever rule reports them.
    pub findings: Vec<Finding>,
    /// Whether the file could be read, and its tensors are valid.
    pub readable: bool,
    /// Indices of the log findings that are reported for this file, or that its graph makes obsolete.
    pub matched_log_findings: Vec<usize>,
    /// Suppressions in the model itself.
    pub accepted: Vec<Accepted>,
    /// Facts about the model; `None` if the file is not a readable model.
    pub facts: Option<Facts>,
}

impl Linted {
    /// Creates the result for an unreadable input.
    pub fn unreadable(finding: Finding) -> Self {
        Linted { findings: vec![finding], ..Linted::default() }
    }

    fn new(findings: Vec<Finding>, readable: bool) -> Self {
        Linted { findings, readable, ..Linted::default() }
    }
}

/// Rules whose findings mean that a file is corrupt, because its tensors are invalid.
/// A corrupt file fails the run, as an unreadable file does. A file with faulty external data is not corrupt.
const UNTRUSTWORTHY: [RuleId; 1] = [rule_ids::BAD_TENSOR_DATA];

/// Lints a model in any format, a `.pt2`, TorchScript text, an exporter log, Python or a notebook.
///
/// `log` has the findings of the exporter log; those about this model are reported here.
pub fn lint(input: &Input, options: &LintOptions, log: &[Finding]) -> Linted {
    let read = match &input.remote {
        Some(remote) => remote::read(input, remote),
        None => input.read().map(|bytes| Content::new(input, bytes)),
    };
    let linted = match read {
        Ok(content) => {
            let linted = lint_content(input, content, options, log);
            input.remote.as_ref().and_then(remote::finish).map_or(linted, Linted::unreadable)
        }
        Err(error) => {
            let is_folder = input.path.as_deref().is_some_and(Path::is_dir);
            let what = if is_folder { "the folder cannot be searched" } else { "cannot be read" };
            let message = format!("{what}: {error}");
            Linted::unreadable(rule_ids::UNREADABLE_MODEL.finding(message, Place::File))
        }
    };
    in_order(linted, input)
}

fn in_order(linted: Linted, input: &Input) -> Linted {
    let mut sink = Sink::default();
    sink.extend(linted.findings.into_iter().map(|finding| at_home(finding, &input.name)));
    let mut findings = sink.finish();
    findings.sort_by_cached_key(order);
    Linted { findings, ..linted }
}

/// Sets the file of a finding, unless it names one itself.
fn at_home(finding: Finding, file: &Arc<str>) -> Finding {
    if finding.file.is_empty() { Finding { file: file.clone(), ..finding } } else { finding }
}

/// Returns the sort key: findings are sorted by location, whichever rule reports them.
fn order(finding: &Finding) -> (u8, Arc<str>, u64, u32, Arc<str>, String) {
    let (kind, group, first, second) = match &finding.place {
        Place::File => (0, Arc::from(""), 0, 0),
        Place::Offset(offset) => (1, Arc::from(""), *offset, 0),
        Place::Text(text) => (2, Arc::from(""), text.line.into(), text.column),
        Place::Source(source) => (3, source.file.clone(), source.line.into(), source.column),
        Place::Graph(graph) => (4, graph.graph.clone(), graph.position.0.into(), graph.span.0),
    };
    (kind, group, first, second, finding.code.clone(), finding.message.clone())
}

/// Content of an input.
#[derive(Debug)]
enum Content {
    /// The whole file.
    Bytes(Kind, Bytes),
    /// A model whose large tensors stay in its file, with the findings of its reader.
    Model(Option<Box<Model>>, Vec<Finding>),
}

impl Content {
    fn new(input: &Input, bytes: Bytes) -> Self {
        Content::Bytes(input.kind.unwrap_or_else(|| sniff(&input.name, &bytes)), bytes)
    }
}

/// Reads the model of an input; `None` if the input has no readable model.
pub fn model(input: &Input) -> Option<Model> {
    let content = match &input.remote {
        Some(remote) => remote::read(input, remote).ok()?,
        None => Content::new(input, input.read().ok()?),
    };
    match content {
        Content::Bytes(kind, bytes) => any::model(kind, bytes).0,
        Content::Model(model, _) => model.map(|model| *model),
    }
}

fn lint_content(input: &Input, content: Content, options: &LintOptions, log: &[Finding]) -> Linted {
    let (kind, bytes) = match content {
        Content::Bytes(kind, bytes) => (kind, bytes),
        Content::Model(model, findings) => {
            return lint_graph(model.map(|model| *model), None, findings, options, log);
        }
    };
    match kind {
        Kind::Other if !input.named => Linted::new(Vec::new(), true),
        Kind::Onnx | Kind::OnnxText | Kind::Textproto | Kind::Json | Kind::LfsPointer | Kind::Other => {
            let (model, spans, findings) = match kind {
                Kind::OnnxText => any::onnx_text(&bytes),
                _ => {
                    let (model, findings) = any::model(kind, bytes);
                    (model, None, findings)
                }
            };
            lint_graph(model, spans, findings, options, log)
        }
        Kind::Pt2 => program::lint(input, &bytes, options),
        Kind::TorchScript => lint_text(input, &String::from_utf8_lossy(&bytes), options),
        Kind::Log => {
            let text = String::from_utf8_lossy(&bytes);
            let mut linted = lint_text(input, &text, options);
            linted.findings.extend(export_log::read(&text, &input.name, &options.sources));
            Linted { findings: one_a_line(linted.findings), ..linted }
        }
        Kind::Python => {
            let text = String::from_utf8_lossy(&bytes);
            Linted::new(python::lint(&text, &input.name, &options.sources), true)
        }
        Kind::Notebook => lint_notebook(input, &bytes, options),
    }
}

fn lint_notebook(input: &Input, bytes: &[u8], options: &LintOptions) -> Linted {
    let text = String::from_utf8_lossy(bytes);
    match python::lint_notebook(&text, &input.name, &options.sources) {
        Some(findings) => Linted::new(findings, true),
        None => {
            let message = "the notebook cannot be read: it is not a JSON document with cells";
            Linted::unreadable(rule_ids::UNREADABLE_MODEL.finding(message, Place::File))
        }
    }
}

fn lint_graph(
    model: Option<Model>,
    spans: Option<TextSpans>,
    mut findings: Vec<Finding>,
    options: &LintOptions,
    log: &[Finding],
) -> Linted {
    let Some(model) = model else { return Linted::new(findings, false) };
    let spans = spans.as_ref();
    findings.extend(lint::lint_text(&model, spans, options));
    forms::tell(&model, options, &mut findings);
    python_sources::lint(&model, &options.sources, &mut findings);
    let matched = logged::matched(log, (&model, spans), &options.sources, &findings);
    findings.extend(matched.findings);
    let readable =
        !findings.iter().any(|finding| UNTRUSTWORTHY.iter().any(|rule| *rule.code == *finding.code));
    Linted {
        findings,
        readable,
        matched_log_findings: matched.indices,
        accepted: accepted::accepted(&model, spans),
        facts: Some(Facts::of(&model)),
    }
}

/// Keeps the most severe finding of each rule at each Python line.
/// A log can show one fault twice: in a warning and in a graph.
fn one_a_line(findings: Vec<Finding>) -> Vec<Finding> {
    let mut known: FxHashMap<(Arc<str>, Arc<str>, u32), usize> = FxHashMap::default();
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        let at = finding.source.as_ref().map(|source| {
            let line = (finding.code.clone(), source.file.clone(), source.line);
            *known.entry(line).or_insert(kept.len())
        });
        match at.and_then(|at| kept.get_mut(at)) {
            Some(first) if first.level < finding.level => *first = finding,
            Some(_) => {}
            None => kept.push(finding),
        }
    }
    kept
}

/// Lints the TorchScript graphs of a text.
fn lint_text(input: &Input, text: &str, options: &LintOptions) -> Linted {
    let (traces, mut findings) = torchscript::read(text);
    let found = |trace| torch::lint(trace, &options.sources, input.path.as_deref());
    findings.extend(traces.iter().flat_map(found));
    Linted::new(findings, true)
}
