//! One finding: what, where, why, what to do.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::place::{Place, SourcePlace};

/// How bad a finding is. An `Error` must be provable from the evidence at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Hint,
    Info,
    Warning,
    Error,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Hint, Level::Info, Level::Warning, Level::Error];

    /// The word for it in every output format of ours.
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
        known.ok_or_else(|| format!("`{text}` is no level; the levels are hint, info, warning and error"))
    }
}

/// Whether a fix may be applied unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// Proved to keep every result.
    Safe,
    /// May change values or shapes; only with `--unsafe-fixes`.
    Unsafe,
}

/// What `onnx-fix` would do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub applicability: Applicability,
    /// What it does, in half a sentence that follows "onnx-fix": "replaces {2,12} by {0,12}".
    pub summary: String,
}

/// A remark at another place that helps to understand a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub place: Place,
    pub message: String,
}

/// Something that is wrong, or could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file that was linted, as it was named on the command line.
    pub file: Arc<str>,
    /// `EXP001`.
    pub code: Arc<str>,
    /// `baked-shape`.
    pub rule: Arc<str>,
    pub level: Level,
    /// What is wrong, in one sentence without a full stop, naming the values.
    pub message: String,
    /// Where; with a node and its Python line both known, this is the node.
    pub place: Place,
    /// What stands at `place`, said in a few words beneath it; may be empty.
    pub label: String,
    /// The Python line behind `place`, where known.
    pub source: Option<SourcePlace>,
    /// Why it matters, and other remarks.
    pub notes: Vec<String>,
    /// What to do, in the terms of the source (PyTorch) where the cause is there.
    pub help: Option<String>,
    pub related: Vec<Related>,
    pub fix: Option<Fix>,
    /// Module path of the node (`/encoder/layers.0/attn`) and its operator: with the rule and the
    /// source line text they make the fingerprint, which survives another export.
    pub anchor: Anchor,
}

/// What of a finding's place stays the same when the model is exported again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Anchor {
    pub module: Arc<str>,
    pub op: Arc<str>,
}

impl Finding {
    /// A finding with nothing but its identity, message and place.
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
            anchor: Anchor::default(),
        }
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related { place, message: message.into() });
        self
    }

    pub fn source(mut self, source: Option<SourcePlace>) -> Self {
        self.source = source;
        self
    }

    pub fn fix(mut self, applicability: Applicability, summary: impl Into<String>) -> Self {
        self.fix = Some(Fix { applicability, summary: summary.into() });
        self
    }

    /// A name for this finding that exporting the model again does not change: a hash of the rule, the
    /// operator, the module path and the text of the source line (not of its number).
    pub fn fingerprint(&self) -> String {
        let code = self.source.as_ref().and_then(|source| source.code.as_deref()).unwrap_or("");
        let parts = [&*self.rule, &*self.anchor.op, &*self.anchor.module, code.trim()];
        format!("{:016x}", fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0]))))
    }
}

/// 64-bit FNV-1a: fixed for all time, unlike the hashers of the standard library.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
