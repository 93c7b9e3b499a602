//! reviewdog diagnostic format: <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>.

use serde_json::{Value, json};

use super::Run;
use super::spot::{Spot, message_at_node, rewrite_here, spot};
use crate::diag::{Finding, Level, Position};

/// Renders findings for reviewdog.
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
        if let Some(column) = in_bytes(spot, spot.column) {
            location["range"]["start"]["column"] = column.into();
            if let Some(end) = spot.end_column().and_then(|end| in_bytes(spot, end)) {
                location["range"]["end"] = json!({ "line": spot.line, "column": end });
            }
        }
    }
    let mut diagnostic = json!({
        "message": message_at_node(finding),
        "location": location,
        "severity": match finding.level {
            Level::Error => "ERROR",
            Level::Warning => "WARNING",
            Level::Info | Level::Hint => "INFO",
        },
        "code": { "value": finding.code },
    });
    if let Some(suggestion) = suggestion(finding, spot) {
        diagnostic["suggestions"] = json!([suggestion]);
    }
    diagnostic
}

/// Returns the suggested edit if it is within the shown line, where columns can be converted to bytes.
fn suggestion(finding: &Finding, spot: Spot) -> Option<Value> {
    let (rewrite, _) = rewrite_here(finding)?;
    let column = |at: Position| in_bytes(spot, at.column).filter(|_| at.line == spot.line);
    let position = |at: Position| Some(json!({ "line": at.line, "column": column(at)? }));
    let range = json!({ "start": position(rewrite.start)?, "end": position(rewrite.end)? });
    Some(json!({ "range": range, "text": rewrite.text }))
}

/// Converts a column to bytes, as this format requires; `None` if the column or line is unknown.
fn in_bytes(spot: Spot, column: u32) -> Option<usize> {
    let before = column.checked_sub(1)? as usize;
    Some(spot.code?.chars().take(before).map(char::len_utf8).sum::<usize>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_bytes() {
        let spot = Spot { file: "a.py", line: 1, column: 6, width: 2, code: Some("größe(x)") };
        assert_eq!((in_bytes(spot, 1), in_bytes(spot, 6), in_bytes(spot, 0)), (Some(1), Some(8), None));
        assert_eq!(in_bytes(Spot { code: None, ..spot }, 6), None);
    }
}
