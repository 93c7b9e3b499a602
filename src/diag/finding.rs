//! One finding: what, where, why, what to do.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::picture::Picture;
use super::place::{Place, SourcePlace};
use super::rewrite::Rewrite;

/// How bad a finding is. An `Error` must be provable from the evidence at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is wrong: the graph could be simpler. Shown on demand only.
    Hint,
    /// Worth knowing, and may well be meant.
    Info,
    /// Probably wrong, or wrong for some inputs, devices or releases of a runtime.
    Warning,
    /// Wrong for certain: it fails, or does not compute what its source says.
    Error,
}

impl Level {
    /// From the least to the worst.
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
    /// Whether it is done unasked.
    pub applicability: Applicability,
    /// What it does, in half a sentence that follows "onnx-fix": "replaces {2,12} by {0,12}".
    pub summary: String,
}

/// A remark at another place that helps to understand a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where the remark points.
    pub place: Place,
    /// What it says, in half a sentence.
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
    /// As bad as this one is: at most the level of its rule, less where less is proved.
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
    /// Other places that have to do with it, each with a remark.
    pub related: Vec<Related>,
    /// What `onnx-fix` would do about it; `None` where it would do nothing.
    pub fix: Option<Fix>,
    /// What to write in the Python instead; `None` where that is not a matter of one piece.
    pub rewrite: Option<Rewrite>,
    /// The nodes that it is about, by their number in the model that was linted; the one at `place` first.
    pub nodes: Vec<u32>,
    /// The graph around them and what a fix changes, where a format shows it.
    pub picture: Option<Box<Picture>>,
    /// Module path of the node (`/encoder/layers.0/attn`) and its operator.
    pub anchor: Anchor,
    /// What tells this finding from those of other files, and of the same place.
    pub identity: Identity,
    /// Whether `source` names a line of a file that is here, rather than where the export ran.
    pub is_here: bool,
}

/// What of a finding's place stays the same when the model is exported again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The path of modules that the node lies in; empty for the outermost, and where none is known.
    pub module: Arc<str>,
    /// The operator, with its domain unless that is the default one; empty for what is no node.
    pub op: Arc<str>,
}

/// What of a finding is the same wherever the repository stands, and whether or not its sources are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The file as seen from the root of its repository; empty where that is not known.
    pub file: Arc<str>,
    /// For what is wrong in Python itself: the file, the function and the code.
    pub code: Arc<str>,
    /// How many findings of the file before this one are the same in all else.
    pub twin: u32,
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
            rewrite: None,
            nodes: Vec::new(),
            picture: None,
            anchor: Anchor::default(),
            identity: Identity::default(),
            is_here: false,
        }
    }

    /// With a few words beneath its place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With one more remark.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With a remark at another place.
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related { place, message: message.into() });
        self
    }

    /// With the Python line behind its place; `None` where none is known.
    pub fn source(mut self, source: Option<SourcePlace>) -> Self {
        self.source = source;
        self
    }

    /// With what `onnx-fix` would do about it.
    pub fn fix(mut self, applicability: Applicability, summary: impl Into<String>) -> Self {
        self.fix = Some(Fix { applicability, summary: summary.into() });
        self
    }

    /// A name for this finding that does not change when the model is exported again, with another batch
    /// size or opset, nor when its sources are not at hand or the repository stands elsewhere: a hash of the
    /// rule, the file in its repository, the module path and the operator; in Python, of the code (not of
    /// the number of its line).
    pub fn fingerprint(&self) -> String {
        let Identity { file, code, twin } = &self.identity;
        let twin = if *twin > 0 { twin.to_string() } else { String::new() };
        let parts = [&*self.rule, file, &*self.anchor.op, &*self.anchor.module, code, &*twin];
        format!("{:016x}", fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0]))))
    }
}

/// 64-bit FNV-1a: fixed for all time, unlike the hashers of the standard library.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
