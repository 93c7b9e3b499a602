//! Collector of findings: removes duplicates, and keeps a deterministic order.

use super::finding::Finding;

/// Collects the findings of a file.
#[derive(Debug, Default)]
pub struct Sink {
    findings: Vec<Finding>,
}

impl Sink {
    /// Adds one finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds findings, in order.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Returns true if there are no findings yet.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the findings in the order of addition, without duplicates.
    ///
    /// Findings are duplicates if rule, location and message are equal.
    pub fn finish(self) -> Vec<Finding> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut findings = self.findings;
        findings.retain(|finding| {
            seen.insert((finding.rule.clone(), finding.place.clone(), finding.message.clone()))
        });
        findings
    }
}
