//! Findings of many models as rows of a table, for `onnx_lint.scan` and the formats of tables.

use std::sync::Arc;

use super::args::Args;
use crate::cli::Failure;
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::evidence::{Facts, Input};
use crate::remote::{Failure as RemoteFailure, Uri};

/// A row: one finding, or a file without findings.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Row {
    /// Name of the file; a URI without credentials.
    pub uri: Arc<str>,
    /// ETag of a remote file, if the server has one.
    pub etag: Option<Arc<str>>,
    /// Code of the rule; `None` for a file without findings.
    pub code: Option<Arc<str>>,
    /// Severity of the finding.
    pub severity: Option<&'static str>,
    /// Fingerprint of the finding.
    pub fingerprint: Option<String>,
    /// Name of the node.
    pub node: Option<Arc<str>>,
    /// Python line, as in `model.py:12`.
    pub source: Option<String>,
    /// Opset of the model.
    pub opset: Option<i64>,
    /// Name and version of the producer of the model.
    pub producer: Option<Arc<str>>,
    /// Distinct operators of the model; `None` if the file is no model.
    pub operators: Option<Arc<[String]>>,
    /// Number of elements of the initializers of the model; `None` if the file is no model.
    pub parameters: Option<i64>,
    /// Message of the finding.
    pub message: Option<String>,
}

/// A linted file and the number of its findings.
#[derive(Clone, Debug)]
pub struct Scanned {
    name: Arc<str>,
    etag: Option<Arc<str>>,
    facts: Option<Facts>,
    /// Number of findings about the file.
    pub findings: usize,
    /// Whether the remote file still has its known ETag.
    is_known: bool,
}

impl Scanned {
    /// Describes an input, whose findings are counted later.
    pub fn new(name: Arc<str>, input: &Input, facts: Option<Facts>) -> Self {
        let file = input.remote.as_ref().map(|remote| remote.file());
        let is_known = matches!(file, Some(Err(RemoteFailure::Known)));
        let etag = file.and_then(|file| file.ok()?.etag().map(Arc::from));
        Scanned { name, etag, facts, findings: 0, is_known }
    }
}

/// Returns the rows of all files, in order, without files that an earlier scan has with the same ETag.
pub fn rows(scanned: &[Scanned], findings: &[Finding]) -> Vec<Row> {
    let mut rest = findings;
    let mut rows = Vec::with_capacity(findings.len());
    for file in scanned {
        let (own, after) = rest.split_at(file.findings.min(rest.len()));
        rest = after;
        if file.is_known {
            continue;
        }
        let empty = about(file);
        match own {
            [] => rows.push(empty),
            own => rows.extend(own.iter().map(|finding| with(&empty, finding))),
        }
    }
    // Findings about configurations come last.
    rows.extend(rest.iter().map(|finding| {
        let name = finding.file.clone();
        let config = Scanned { name, etag: None, facts: None, findings: 1, is_known: false };
        with(&about(&config), finding)
    }));
    rows
}

fn about(file: &Scanned) -> Row {
    let facts = file.facts.as_ref();
    Row {
        uri: file.name.clone(),
        etag: file.etag.clone(),
        code: None,
        severity: None,
        fingerprint: None,
        node: None,
        source: None,
        opset: facts.and_then(|facts| facts.opset),
        producer: facts.and_then(|facts| facts.producer.clone()),
        operators: facts.map(|facts| facts.operators.clone().into()),
        parameters: facts.map(|facts| i64::try_from(facts.parameters).unwrap_or(i64::MAX)),
        message: None,
    }
}

fn with(row: &Row, finding: &Finding) -> Row {
    let node = match &finding.place {
        Place::Graph(graph) => Some(graph.node.clone()),
        _ => None,
    };
    Row {
        code: Some(finding.code.clone()),
        severity: Some(finding.level.name()),
        fingerprint: Some(finding.fingerprint()),
        node,
        source: finding.source.as_ref().map(|source| format!("{}:{}", source.file, source.line)),
        message: Some(finding.message.clone()),
        ..row.clone()
    }
}

/// Lints the files that the arguments name, and returns their rows. An unsupported URI gets a row, too.
///
/// # Errors
/// The errors are those of [`super::findings`].
pub fn scan(args: &Args) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    // Consecutive supported paths are linted together.
    let mut paths = args.paths.iter().peekable();
    while let Some(path) = paths.peek() {
        if let Some(Err(why)) = Uri::parse(&path.to_string_lossy()) {
            rows.push(refused(why));
            paths.next();
            continue;
        }
        let mut together = Vec::new();
        while let Some(path) =
            paths.next_if(|path| !matches!(Uri::parse(&path.to_string_lossy()), Some(Err(_))))
        {
            together.push(path.clone());
        }
        let args = Args { paths: together, ..args.clone() };
        let (scanned, findings) = super::scanned(&args)?;
        rows.extend(self::rows(&scanned, &findings));
    }
    Ok(rows)
}

/// Returns the row of a URI that is not supported. The message of the row names the URI.
fn refused(why: String) -> Row {
    let name = why.split('`').nth(1).unwrap_or_default();
    let finding = rule_ids::UNREADABLE_MODEL.at(Level::Error).finding(why.clone(), Place::File);
    let file = Scanned { name: Arc::from(name), etag: None, facts: None, findings: 1, is_known: false };
    with(&about(&file), &Finding { file: file.name.clone(), ..finding })
}
