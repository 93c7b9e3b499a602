//! Findings that are known, and do not fail the run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::diag::Finding;

/// The form of the file; another one is refused.
const VERSION: u32 = 1;

/// The content of a baseline file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// Findings of one fingerprint. All but it and the count are for people to read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fingerprint: String,
    count: usize,
    code: String,
    file: String,
    message: String,
}

/// How many findings of each fingerprint are known.
#[derive(Debug)]
pub struct Baseline(BTreeMap<String, usize>);

impl Baseline {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::at(path, error))?;
        let document: Document = serde_json::from_str(&text)
            .map_err(|error| Failure::at(path, format!("this is no baseline: {error}")))?;
        if document.version != VERSION {
            let version = document.version;
            return Err(Failure::at(path, format!("baselines of version {version} are not known here")));
        }
        let entries = document.findings.into_iter().map(|entry| (entry.fingerprint, entry.count));
        Ok(Baseline(entries.collect()))
    }

    /// Takes the known findings out: of each fingerprint, as many as were known.
    pub fn remove_known(mut self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| match self.0.get_mut(&finding.fingerprint()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    }

    /// Writes what was found as the baseline of later runs, sorted, so that it is easily compared.
    pub fn write(path: &Path, findings: &[Finding]) -> Result<(), Failure> {
        let mut entries: BTreeMap<(&str, &str, String), Entry> = BTreeMap::new();
        for finding in findings {
            let fingerprint = finding.fingerprint();
            let entry = entries.entry((&finding.file, &finding.code, fingerprint.clone()));
            let entry = entry.or_insert_with(|| Entry {
                fingerprint,
                count: 0,
                code: finding.code.to_string(),
                file: finding.file.to_string(),
                message: finding.message.clone(),
            });
            entry.count += 1;
        }
        let document = Document { version: VERSION, findings: entries.into_values().collect() };
        let text = serde_json::to_string_pretty(&document).map_err(|error| Failure::at(path, error))?;
        std::fs::write(path, text + "\n").map_err(|error| Failure::at(path, error))
    }
}
