//! Findings: a problem, its location, its consequences, and the fix.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::applicability::Applicability;
use super::picture::Picture;
use super::place::{Place, SourcePlace};
use super::rewrite::Rewrite;

/// Severity of a finding. An `Error` must be provable from the available evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The model is correct, but could be simpler; hints are only shown on request.
    Hint,
    /// The finding is worth knowing, but the behavior may be intended.
    Info,
    /// The model is probably wrong, or is wrong for some inputs, devices or runtime versions.
    Warning,
    /// The model is certainly wrong: a run fails, or results differ from those of the source.
    Error,
}

impl Level {
    /// All levels, in ascending order.
    pub const ALL: [Level; 4] = [Level::Hint, Level::Info, Level::Warning, Level::Error];

    /// Returns the name of the level, as it appears in output formats and options.
    pub fn name(self) -> &'static str {
        match self {
            Level::Hint => "hint",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Level::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| format!("unknown level `{text}`; use hint, info, warning or error"))
    }
}

/// Fix that `onnx-fix` offers for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether the fix is applied by default.
    pub applicability: Applicability,
    /// Description, as the predicate of a sentence about onnx-fix: "replaces {2,12} by {0,12}".
    pub summary: String,
}

/// Message at another location that helps to understand a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Location of the message.
    pub place: Place,
    /// Message, as part of a sentence.
    pub message: String,
}

/// Problem or possible improvement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Linted file, as the output names it; empty until the caller sets it.
    pub file: Arc<str>,
    /// Code of the rule, such as `EXP001`.
    pub code: Arc<str>,
    /// Name of the rule, such as `baked-shape`.
    pub rule: Arc<str>,
    /// Level of this finding; by default that of its rule.
    pub level: Level,
    /// Problem in one sentence without a full stop, naming the values.
    pub message: String,
    /// Location of the problem in the linted file; `source` has the Python line.
    pub place: Place,
    /// Short label of `place`, shown below it; may be empty.
    pub label: String,
    /// Python line that `place` came from, if known.
    pub source: Option<SourcePlace>,
    /// Notes: why the problem matters, and other remarks.
    pub notes: Vec<String>,
    /// Help: instructions to resolve the problem, in the source (PyTorch) if the cause is there.
    pub help: Option<String>,
    /// Related locations, each with a message.
    pub related: Vec<Related>,
    /// Fix that `onnx-fix` offers, if any.
    pub fix: Option<Fix>,
    /// Replacement for the Python code, if a single edit suffices.
    pub rewrite: Option<Rewrite>,
    /// Nodes that the finding is about, by number in the linted model; the one at `place` first.
    pub nodes: Vec<u32>,
    /// Surrounding graph and the effect of the fix, for formats that show them.
    pub picture: Option<Box<Picture>>,
    /// Module path of the node (`/encoder/layers.0/attn`), and its operator.
    pub anchor: Anchor,
    /// Identity of the finding across files and exports.
    pub identity: Identity,
    /// Whether `source` names a line of a local file, not one on the machine that ran the export.
    pub is_here: bool,
}

/// Location of a finding that is stable when the model is exported again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// Module path of the node, or the name of the value; empty for the outermost module, and if unknown.
    pub module: Arc<str>,
    /// Operator, with its domain unless that is the default one; empty if there is no node.
    pub op: Arc<str>,
}

/// Parts of a fingerprint that do not depend on where the repository or its sources are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Path of the file, equal in every checkout of the repository; empty if unknown.
    pub file: Arc<str>,
    /// File name, function and code of a finding in Python; empty for other findings.
    pub code: Arc<str>,
    /// Number of earlier findings in the file that are otherwise identical.
    pub twin: u32,
}

impl Finding {
    /// Creates a finding with only its rule, level, message and location.
    pub fn new(code: &str, rule: &str, level: Level, message: impl Into<String>, place: Place) -> Self {
        let source = place.source().cloned();
        Finding {
            file: Arc::from(""),
            code: Arc::from(code),
            rule: Arc::from(rule),
            level,
            message: message.into(),
            place,
            label: String::new(),
            source,
            notes: Vec::new(),
            help: None,
            related: Vec::new(),
            fix: None,
            rewrite: None,
            nodes: Vec::new(),
            picture: None,
            anchor: Anchor::default(),
            identity: Identity::default(),
            is_here: false,
        }
    }

    /// Adds a label below the location.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a related location with a message.
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related { place, message: message.into() });
        self
    }

    /// Sets the Python line that the location came from, if known.
    pub fn source(mut self, source: Option<SourcePlace>) -> Self {
        self.source = source;
        self
    }

    /// Adds a fix by `onnx-fix`.
    pub fn fix(mut self, applicability: Applicability, summary: impl Into<String>) -> Self {
        self.fix = Some(Fix { applicability, summary: summary.into() });
        self
    }

    /// Returns a stable fingerprint of this finding.
    /// The fingerprint does not change when the model is exported again with another batch size or opset,
    /// when the sources are unavailable, or when the repository is moved. The fingerprint is a hash of the
    /// rule, the file in its repository, the operator, the module path, the Python code, and the number of
    /// identical findings before this one. Line numbers are not included.
    pub fn fingerprint(&self) -> String {
        let Identity { file, code, twin } = &self.identity;
        let twin = if *twin > 0 { twin.to_string() } else { String::new() };
        let parts = [&*self.rule, file, &*self.anchor.op, &*self.anchor.module, code, &*twin];
        format!("{:016x}", fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0]))))
    }
}

/// Computes the 64-bit FNV-1a hash, which is stable, unlike the hashers of the standard library.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
