//! Profile: the known capabilities of one version of a target.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::rules::expr::Expr;
use crate::rules::rule::Direction;

/// Kind of evidence, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// Tested on the target itself.
    Measured,
    /// Documented by the vendor of the target.
    Documented,
    /// Inferred from the implementation of the target, or from reports.
    Inferred,
}

impl EvidenceKind {
    /// All kinds, strongest first.
    pub const ALL: [EvidenceKind; 3] =
        [EvidenceKind::Measured, EvidenceKind::Documented, EvidenceKind::Inferred];

    /// Returns the keyword of the kind in target files.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceKind::Measured => "measured",
            EvidenceKind::Documented => "documented",
            EvidenceKind::Inferred => "inferred",
        }
    }
}

/// Evidence for a capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Kind of evidence.
    pub kind: EvidenceKind,
    /// Tool, page or report that provides the evidence.
    pub source: Arc<str>,
    /// Date of the evidence: `2026-11-22`.
    pub date: Arc<str>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}: {}", self.kind.name(), self.date, self.source)
    }
}

/// Inclusive range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Oldest version.
    pub from: i64,
    /// Newest version.
    pub to: i64,
}

impl Range {
    /// All versions.
    pub const ALL: Range = Range { from: i64::MIN, to: i64::MAX };

    /// Returns true if the range contains no version.
    pub fn is_empty(self) -> bool {
        self.from > self.to
    }

    /// Returns the intersection; empty if `from` exceeds `to`.
    pub fn meet(self, other: Range) -> Range {
        Range { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}

/// Support of an operator, as stated by one line of a target file.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub is_taken: bool,
    pub evidence: Arc<Evidence>,
    /// [`crate::schema::Schema::epoch`] that the line is about; `None` for an operator without a schema.
    pub epoch: Option<u16>,
    pub test: Option<Arc<Test>>,
    pub because: Option<Arc<str>>,
}

/// Statement that only the listed operators and domains are supported, by one kind of evidence.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub evidence: Arc<Evidence>,
    pub because: Option<Arc<str>>,
}

/// Pattern and conditions that a node must meet for a line of a target file to apply.
#[derive(Debug)]
pub(super) struct Test {
    /// Pattern that ends with the tested node.
    /// In a pattern of one node, the operands are named as in the ONNX specification.
    pub direction: Direction,
    pub conditions: Vec<Expr>,
    /// Conditions as written.
    pub text: Arc<str>,
}

/// One version of a target: opsets and IR versions that it can load, and support of operators.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name in arguments, such as `onnxruntime`.
    pub name: Arc<str>,
    /// Name in messages, such as `ONNX Runtime`.
    pub title: Arc<str>,
    /// Requested version, or the version in the target file; empty for a target without versions.
    pub version: Arc<str>,
    /// Opsets of ai.onnx that the target can load.
    pub opset: Range,
    /// IR versions that the target can load.
    pub ir: Range,
    /// Axes that may be dynamic if all other axes of inputs must be static; `None` if all axes may be
    /// dynamic.
    pub fixed: Option<Vec<i64>>,
    /// Evidence of the whole target, then of the version, each in the order of the file.
    pub evidence: Vec<Arc<Evidence>>,
    /// Lines by domain and operator.
    pub(super) lines: FxHashMap<Arc<str>, FxHashMap<Arc<str>, Vec<Line>>>,
    /// Domains whose operators are all supported, except those that a line excludes.
    pub(super) domains: Vec<(Arc<str>, Arc<Evidence>)>,
    /// Statements that the list of supported operators is complete.
    pub(super) closed: Vec<Closed>,
}

impl Profile {
    /// Returns the label: `ONNX Runtime 1.17`.
    pub fn label(&self) -> String {
        if self.version.is_empty() {
            self.title.to_string()
        } else {
            format!("{} {}", self.title, self.version)
        }
    }

    /// Returns the command-line argument that selects the profile: `onnxruntime=1.17`.
    pub fn argument(&self) -> String {
        if self.version.is_empty() {
            self.name.to_string()
        } else {
            format!("{}={}", self.name, self.version)
        }
    }

    /// Returns true if the profile has lines about operators, or a complete list of them.
    pub fn knows_nodes(&self) -> bool {
        !self.lines.is_empty() || !self.closed.is_empty()
    }

    /// Returns true if the profile may state that a node of this operator is not supported.
    pub fn speaks_of(&self, domain: &str, op: &str) -> bool {
        !self.closed.is_empty() || !self.lines_of(domain, op).is_empty()
    }

    /// Returns false if the profile is known to support no node of this operator.
    pub fn may_take(&self, domain: &str, op: &str) -> bool {
        let lines = self.lines_of(domain, op);
        let is_taken = lines.iter().any(|line| line.is_taken);
        let is_excluded = lines.iter().any(|line| !line.is_taken && line.test.is_none());
        let is_listed = self.closed.is_empty() || self.domains.iter().any(|(taken, _)| **taken == *domain);
        is_taken || is_listed && !is_excluded
    }

    /// Returns the lines of the profile about an operator.
    pub(super) fn lines_of(&self, domain: &str, op: &str) -> &[Line] {
        self.lines.get(domain).and_then(|ops| ops.get(op)).map_or(&[], Vec::as_slice)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}
