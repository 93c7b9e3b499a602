//! Collects findings; says each once, in an order that depends on nothing but the findings.

use super::finding::Finding;

/// Where findings go while a file is linted.
#[derive(Debug, Default)]
pub struct Sink {
    findings: Vec<Finding>,
}

impl Sink {
    /// Adds one finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds findings, in their order.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Whether none was added yet.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings in the order they were met, duplicates removed.
    ///
    /// Two findings are the same fault when rule, place and message agree.
    pub fn finish(self) -> Vec<Finding> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut findings = self.findings;
        findings.retain(|finding| {
            seen.insert((finding.rule.clone(), finding.place.clone(), finding.message.clone()))
        });
        findings
    }
}
