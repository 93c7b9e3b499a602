//! GitLab code quality report: <https://docs.gitlab.com/ci/testing/code_quality/>.

use serde_json::{Value, json};

use super::Run;
use super::spot::{message_at_node, spot};
use crate::diag::{Finding, Level};

/// Renders findings as a GitLab report.
pub fn render(run: Run) -> String {
    let issue = |finding: &Finding| {
        let spot = spot(finding);
        json!({
            "description": message_at_node(finding),
            "check_name": format!("{} {}", finding.code, finding.rule),
            "fingerprint": finding.fingerprint(),
            "severity": severity(finding.level),
            "location": { "path": spot.file, "lines": { "begin": spot.line.max(1) } },
        })
    };
    super::pretty(&run.findings.iter().map(issue).collect::<Vec<Value>>())
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "major",
        Level::Warning => "minor",
        Level::Info | Level::Hint => "info",
    }
}
