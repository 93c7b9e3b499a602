//! What is known of one version of a target.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::rules::expr::Expr;
use crate::rules::rule::Direction;

/// How a thing is known, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// It was tried in the target itself.
    Measured,
    /// Its makers say so.
    Documented,
    /// From how it works, or from reports.
    Inferred,
}

impl Known {
    /// All of them, the strongest first.
    pub const ALL: [Known; 3] = [Known::Measured, Known::Documented, Known::Inferred];

    /// The word for it in target files.
    pub fn name(self) -> &'static str {
        match self {
            Known::Measured => "measured",
            Known::Documented => "documented",
            Known::Inferred => "inferred",
        }
    }
}

/// Where something is known from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// How it is known.
    pub known: Known,
    /// The tool, page or report that says so.
    pub source: Arc<str>,
    /// When it was so: `2026-11-22`.
    pub date: Arc<str>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}: {}", self.known.name(), self.date, self.source)
    }
}

/// Versions from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The oldest.
    pub from: i64,
    /// The newest.
    pub to: i64,
}

impl Range {
    /// All versions.
    pub const ALL: Range = Range { from: i64::MIN, to: i64::MAX };

    /// Whether it holds no version.
    pub fn is_empty(self) -> bool {
        self.from > self.to
    }

    /// What both hold; nothing where `from` is above `to`.
    pub fn meet(self, other: Range) -> Range {
        Range { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}

/// What one line says of an operator.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub is_taken: bool,
    pub evidence: Arc<Evidence>,
    /// Of the first version of this epoch; `None` for an operator without a schema.
    pub epoch: Option<u16>,
    pub test: Option<Arc<Test>>,
    pub because: Option<Arc<str>>,
}

/// That what is known in a way is all there is.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub evidence: Arc<Evidence>,
    pub because: Option<Arc<str>>,
}

/// The conditions of a line.
#[derive(Debug)]
pub(super) struct Test {
    /// Its pattern is one node, whose operands have the names of the specification, or several, the last of which is
    /// the one that is asked about.
    pub direction: Direction,
    pub conditions: Vec<Expr>,
    /// As written.
    pub text: Arc<str>,
}

/// One version of a target: what it loads, and which nodes it takes.
#[derive(Clone, Debug)]
pub struct Profile {
    /// `onnxruntime`.
    pub name: Arc<str>,
    /// `ONNX Runtime`.
    pub title: Arc<str>,
    /// The version, as it was asked for, or the newest there is.
    pub version: Arc<str>,
    /// The opsets of ai.onnx that it loads.
    pub opset: Range,
    /// The IR versions that it loads.
    pub ir: Range,
    /// Whether the inputs must have sizes that are numbers, but for those of these axes.
    pub fixed: Option<Vec<i64>>,
    /// Where what is known is from, in the order of the file.
    pub evidence: Vec<Arc<Evidence>>,
    /// By domain and operator.
    pub(super) lines: FxHashMap<Arc<str>, FxHashMap<Arc<str>, Vec<Line>>>,
    /// Domains all of whose operators are taken, but for those that a line refuses.
    pub(super) domains: Vec<(Arc<str>, Arc<Evidence>)>,
    /// What lists all that is taken.
    pub(super) closed: Vec<Closed>,
}

impl Profile {
    /// `ONNX Runtime 1.17`.
    pub fn label(&self) -> String {
        if self.version.is_empty() {
            self.title.to_string()
        } else {
            format!("{} {}", self.title, self.version)
        }
    }

    /// How it is asked for on a command line: `onnxruntime=1.17`.
    pub fn argument(&self) -> String {
        if self.version.is_empty() {
            self.name.to_string()
        } else {
            format!("{}={}", self.name, self.version)
        }
    }

    /// Whether anything is known of which nodes it takes.
    pub fn knows_nodes(&self) -> bool {
        !self.lines.is_empty() || !self.closed.is_empty()
    }

    /// Whether it may refuse a node of this operator.
    pub fn speaks_of(&self, domain: &str, op: &str) -> bool {
        !self.closed.is_empty() || !self.lines_of(domain, op).is_empty()
    }

    pub(super) fn lines_of(&self, domain: &str, op: &str) -> &[Line] {
        self.lines.get(domain).and_then(|ops| ops.get(op)).map_or(&[], Vec::as_slice)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}
