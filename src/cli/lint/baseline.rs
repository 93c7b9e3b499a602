//! The baseline: known findings, which are not reported again.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::diag::Finding;
use crate::source::without_comment;

/// The version of the file format; files of other versions are rejected.
const VERSION: u32 = 2;

/// The content of a baseline file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// A known finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The path of the file, equal in every checkout.
    file: String,
    code: String,
    fingerprint: String,
    /// The name of the node, if the finding is at a node. Node names may change between exports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    node: String,
    /// The Python line without its comment; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    line: String,
    /// The message, for readers only.
    message: String,
}

impl Entry {
    fn of(finding: &Finding) -> Entry {
        let line = finding.source.as_ref().and_then(|source| source.code.as_deref()).unwrap_or("");
        Entry {
            file: finding.identity.file.to_string(),
            code: finding.code.to_string(),
            fingerprint: kind(finding),
            node: finding.place.graph().map_or_else(String::new, |graph| graph.node.to_string()),
            line: without_comment(line).trim().to_owned(),
            message: finding.message.clone(),
        }
    }

    /// Returns true if two entries with one fingerprint may describe the same finding.
    /// Entries with different Python lines describe different findings.
    fn fits(&self, other: &Entry) -> bool {
        self.line.is_empty() || other.line.is_empty() || self.line == other.line
    }

    fn is_same(&self, other: &Entry) -> bool {
        self.node == other.node && self.fits(other)
    }
}

/// Returns the fingerprint without the counter that distinguishes otherwise identical findings.
fn kind(finding: &Finding) -> String {
    let mut first = finding.clone();
    first.identity.twin = 0;
    first.fingerprint()
}

/// Known findings by fingerprint.
#[derive(Debug)]
pub struct Baseline(FxHashMap<String, Vec<Entry>>);

impl Baseline {
    /// Reads a baseline file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        if !path.exists() {
            return Err(Failure::at(
                path,
                "the baseline does not exist; --write-baseline creates it from the current findings",
            ));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
        let none = |error| Failure::at(path, format!("this is not a baseline file: {error}"));
        let version = serde_json::from_str::<serde_json::Value>(&text).map_err(none)?["version"].as_u64();
        if let Some(version) = version.filter(|&version| version != u64::from(VERSION)) {
            let what = "write the baseline again with --write-baseline";
            return Err(Failure::at(
                path,
                format!("baselines of version {version} are not supported; {what}"),
            ));
        }
        let document: Document = serde_json::from_str(&text).map_err(none)?;
        let mut known: FxHashMap<String, Vec<Entry>> = FxHashMap::default();
        for entry in document.findings {
            known.entry(entry.fingerprint.clone()).or_default().push(entry);
        }
        Ok(Baseline(known))
    }

    /// Removes the known findings; returns for each finding whether it was known.
    ///
    /// Of several findings with one fingerprint, those at the nodes that the baseline names are removed first, so that
    /// the new ones remain.
    pub fn remove_known(mut self, findings: &mut Vec<Finding>) -> Vec<bool> {
        let entries: Vec<Entry> = findings.iter().map(Entry::of).collect();
        let mut is_known = vec![false; findings.len()];
        let passes: [fn(&Entry, &Entry) -> bool; 2] = [Entry::is_same, Entry::fits];
        for agree in passes {
            for (entry, is_known) in entries.iter().zip(&mut is_known).filter(|(_, is_known)| !**is_known) {
                let Some(known) = self.0.get_mut(&entry.fingerprint) else { continue };
                if let Some(at) = known.iter().position(|known| agree(known, entry)) {
                    known.swap_remove(at);
                    *is_known = true;
                }
            }
        }
        let mut flags = is_known.iter();
        findings.retain(|_| !flags.next().unwrap_or(&false));
        is_known
    }

    /// Writes the findings as a baseline, sorted so that diffs are small.
    pub fn write(path: &Path, findings: &[Finding]) -> Result<(), Failure> {
        let mut entries: Vec<Entry> = findings.iter().map(Entry::of).collect();
        entries.sort();
        let document = Document { version: VERSION, findings: entries };
        let text = serde_json::to_string_pretty(&document).map_err(|error| Failure::at(path, error))?;
        crate::cli::output::write(&(text + "\n"), Some(path))
    }
}
