//! One file: what it is, what its reader and the rules say of it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::behind;
use super::discover::Input;
use super::said;
use super::settings::Settings;
use super::suppress::{InModel, in_model};
use crate::cli::crash;
use crate::diag::known;
use crate::diag::{Finding, Level, Place, RuleId, Sink};
use crate::read;
use crate::read::sniff::{Kind, sniff};
use crate::torch;

/// What there is to say of a file.
#[derive(Debug)]
pub struct Linted {
    pub findings: Vec<Finding>,
    /// Whether it could be read at all; the run fails where not.
    pub readable: bool,
    /// Which findings of the export's log are among `findings`, or said in other words.
    pub said: Vec<usize>,
    /// What the model itself says is accepted.
    pub ignores: Vec<InModel>,
}

impl Linted {
    fn new(findings: Vec<Finding>, readable: bool) -> Self {
        Linted { findings, readable, said: Vec::new(), ignores: Vec::new() }
    }
}

/// What is the same for all files of one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub settings: &'a Settings,
    /// What the export said, as findings.
    pub log: &'a [Finding],
}

/// Rules whose findings mean that a file is not what it claims to be: sizes that it does not have, data
/// out of its folder. Such a file fails the run, like one that cannot be read.
const UNTRUSTWORTHY: [RuleId; 3] =
    [known::BAD_TENSOR_DATA, known::EXTERNAL_DATA_OUT_OF_RANGE, known::EXTERNAL_DATA_ESCAPES_FOLDER];

fn cannot_open(error: &io::Error) -> Finding {
    known::UNREADABLE_MODEL.finding(format!("cannot be read: {error}"), Place::File)
}

fn internal_error(what: &str) -> Finding {
    known::INTERNAL_ERROR
        .finding(format!("onnx-lint failed: {what}"), Place::File)
        .help("this is a fault of onnx-lint, not of the file: please report it, if possible with the file")
}

/// Lints a file. Nothing that is in it makes this panic; should it happen all the same, that is a
/// finding too.
pub fn lint(input: &Input, cx: Context) -> Linted {
    let linted = crash::guard(|| match input.read() {
        Ok(bytes) => lint_bytes(input, bytes, cx),
        Err(error) => Linted::new(vec![cannot_open(&error)], false),
    });
    let linted = linted.unwrap_or_else(|what| Linted::new(vec![internal_error(&what)], false));
    let mut sink = Sink::default();
    sink.extend(linted.findings.into_iter().map(|finding| at_home(finding, &input.name)));
    let mut findings = sink.finish();
    findings.sort_by_cached_key(order);
    // Why a file could not be read is said whatever is selected.
    findings.retain_mut(|finding| {
        cx.settings.shows(input, finding) || (!linted.readable && finding.level == Level::Error)
    });
    Linted { findings, ..linted }
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

fn lint_bytes(input: &Input, bytes: Bytes, cx: Context) -> Linted {
    let settings = cx.settings;
    let kind = input.kind.unwrap_or_else(|| sniff(&input.name, &bytes));
    match kind {
        Kind::Other if !input.named => Linted::new(Vec::new(), true),
        Kind::Onnx | Kind::OnnxText | Kind::Textproto | Kind::Json | Kind::LfsPointer | Kind::Other => {
            lint_model(input, kind, bytes, cx)
        }
        Kind::Pt2 => {
            let (trace, mut findings) = read::pt2::read(&bytes);
            findings.extend(
                trace.iter().flat_map(|trace| torch::lint(trace, &settings.sources, input.path.as_deref())),
            );
            Linted::new(findings, trace.is_some())
        }
        Kind::TorchScript => lint_text(input, &String::from_utf8_lossy(&bytes), settings),
        Kind::Log => {
            let text = String::from_utf8_lossy(&bytes);
            let mut linted = lint_text(input, &text, settings);
            linted.findings.extend(read::export_log::read(&text, &input.name, &settings.sources));
            Linted { findings: one_a_line(linted.findings), ..linted }
        }
        Kind::Python => {
            let text = String::from_utf8_lossy(&bytes);
            Linted::new(read::python::lint(&text, &input.name, &settings.sources), true)
        }
    }
}

fn lint_model(input: &Input, kind: Kind, bytes: Bytes, cx: Context) -> Linted {
    let (model, mut findings) = read::any::model(kind, bytes);
    let Some(model) = model else { return Linted::new(findings, false) };
    findings.extend(crate::lint::lint_model(&model, &cx.settings.lint_options(input)));
    findings.extend(cx.settings.targets.iter().flat_map(|target| target.findings(&model)));
    findings.extend(behind::lint(&model, &cx.settings.sources, &findings));
    let said = said::matched(cx.log, &model, &cx.settings.sources, &findings);
    findings.extend(said.findings);
    let trusted =
        !findings.iter().any(|finding| UNTRUSTWORTHY.iter().any(|rule| *rule.code == *finding.code));
    Linted { findings, readable: trusted, said: said.indices, ignores: in_model(&model) }
}

/// The findings of a log, each line of Python and rule once: a graph in it shows what a warning says as well.
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

/// The TorchScript graphs of a text.
fn lint_text(input: &Input, text: &str, settings: &Settings) -> Linted {
    let (traces, mut findings) = read::torchscript::read(text);
    findings
        .extend(traces.iter().flat_map(|trace| torch::lint(trace, &settings.sources, input.path.as_deref())));
    Linted::new(findings, true)
}
