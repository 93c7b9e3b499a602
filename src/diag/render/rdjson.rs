//! reviewdog's diagnostic format: <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>.

use serde_json::{Value, json};

use super::Run;
use super::spot::{message_at_node, spot};
use crate::diag::{Finding, Level};

pub fn render(run: Run) -> String {
    super::pretty(&json!({
        "source": { "name": "onnx-lint" },
        "diagnostics": run.findings.iter().map(diagnostic).collect::<Vec<Value>>(),
    }))
}

fn diagnostic(finding: &Finding) -> Value {
    let spot = spot(finding);
    let mut location = json!({ "path": spot.file });
    if spot.line > 0 {
        location["range"]["start"]["line"] = spot.line.into();
        if spot.column > 0 {
            location["range"]["start"]["column"] = spot.column.into();
        }
        if let Some(column) = spot.end_column() {
            location["range"]["end"] = json!({ "line": spot.line, "column": column });
        }
    }
    json!({
        "message": message_at_node(finding),
        "location": location,
        "severity": match finding.level {
            Level::Error => "ERROR",
            Level::Warning => "WARNING",
            Level::Info | Level::Hint => "INFO",
        },
        "code": { "value": finding.code },
    })
}
