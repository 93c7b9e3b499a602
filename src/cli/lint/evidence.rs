//! One file: what it is, what its reader and the rules say of it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::behind;
use super::discover::Input;
use super::settings::Settings;
use crate::cli::crash;
use crate::diag::{Finding, Level, Place, Sink};
use crate::read;
use crate::read::sniff::{Kind, sniff};
use crate::torch;

/// What there is to say of a file.
#[derive(Debug)]
pub struct Linted {
    pub findings: Vec<Finding>,
    /// Whether it could be read at all; the run fails where not.
    pub readable: bool,
}

/// Rules whose findings mean that a file is not what it claims to be: sizes that it does not have, data
/// out of its folder. Such a file fails the run, like one that cannot be read.
const UNTRUSTWORTHY: [&str; 3] = ["SPC022", "SPC025", "SPC026"];

fn cannot_open(error: &io::Error) -> Finding {
    Finding::new("SPC001", "unreadable-model", Level::Error, format!("cannot be read: {error}"), Place::File)
}

fn internal_error(what: &str) -> Finding {
    Finding::new("INT001", "internal-error", Level::Error, format!("onnx-lint failed: {what}"), Place::File)
        .help("this is a fault of onnx-lint, not of the file: please report it, if possible with the file")
}

/// Lints a file. Nothing that is in it makes this panic; should it happen all the same, that is a
/// finding too.
pub fn lint(input: &Input, settings: &Settings) -> Linted {
    let linted = crash::guard(|| match input.read() {
        Ok(bytes) => lint_bytes(input, bytes, settings),
        Err(error) => Linted { findings: vec![cannot_open(&error)], readable: false },
    });
    let linted =
        linted.unwrap_or_else(|what| Linted { findings: vec![internal_error(&what)], readable: false });
    let mut sink = Sink::default();
    sink.extend(linted.findings.into_iter().map(|finding| at_home(finding, &input.name)));
    let mut findings = sink.finish();
    findings.sort_by_cached_key(order);
    // Why a file could not be read is said whatever is selected.
    findings.retain_mut(|finding| {
        settings.shows(input, finding) || (!linted.readable && finding.level == Level::Error)
    });
    Linted { findings, readable: linted.readable }
}

/// The finding in the file that was linted, unless it names one itself.
fn at_home(finding: Finding, file: &Arc<str>) -> Finding {
    if finding.file.is_empty() { Finding { file: file.clone(), ..finding } } else { finding }
}

/// Findings stand in the order of the file, whichever rule found them.
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

fn lint_bytes(input: &Input, bytes: Bytes, settings: &Settings) -> Linted {
    let kind = input.kind.unwrap_or_else(|| sniff(&input.name, &bytes));
    match kind {
        Kind::Other if !input.named => Linted { findings: Vec::new(), readable: true },
        Kind::Onnx | Kind::OnnxText | Kind::Textproto | Kind::Json | Kind::LfsPointer | Kind::Other => {
            lint_model(input, kind, bytes, settings)
        }
        Kind::Pt2 => {
            let (trace, mut findings) = read::pt2::read(&bytes);
            findings.extend(
                trace.iter().flat_map(|trace| torch::lint(trace, &settings.sources, input.path.as_deref())),
            );
            Linted { findings, readable: trace.is_some() }
        }
        Kind::TorchScript => lint_text(input, &String::from_utf8_lossy(&bytes), settings),
        Kind::Log => {
            let text = String::from_utf8_lossy(&bytes);
            let mut linted = lint_text(input, &text, settings);
            linted.findings.extend(read::export_log::read(&text, &input.name, &settings.sources));
            linted
        }
        Kind::Python => {
            let text = String::from_utf8_lossy(&bytes);
            Linted { findings: read::python::lint(&text, &input.name), readable: true }
        }
    }
}

fn lint_model(input: &Input, kind: Kind, bytes: Bytes, settings: &Settings) -> Linted {
    let (model, mut findings) = read::any::model(kind, bytes);
    if let Some(model) = &model {
        findings.extend(crate::lint::lint_model(model, &settings.lint_options(input)));
        findings.extend(behind::lint(model, &settings.sources, &findings));
    }
    let trusted = !findings.iter().any(|finding| UNTRUSTWORTHY.contains(&&*finding.code));
    Linted { findings, readable: model.is_some() && trusted }
}

/// The TorchScript graphs of a text.
fn lint_text(input: &Input, text: &str, settings: &Settings) -> Linted {
    let (traces, mut findings) = read::torchscript::read(text);
    findings
        .extend(traces.iter().flat_map(|trace| torch::lint(trace, &settings.sources, input.path.as_deref())));
    Linted { findings, readable: true }
}
