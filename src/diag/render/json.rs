//! `json` and `json-lines`.

use serde_json::{Value, json};

use super::Run;
use crate::diag::{Applicability, Finding, Place, SourcePlace};

/// One array of all findings.
pub fn array(run: Run) -> String {
    super::pretty(&run.findings.iter().map(object).collect::<Vec<Value>>())
}

/// An object a line.
pub fn lines(run: Run) -> String {
    run.findings.iter().map(|finding| format!("{}\n", object(finding))).collect()
}

fn object(finding: &Finding) -> Value {
    let graph = finding.place.graph();
    json!({
        "file": finding.file,
        "code": finding.code,
        "rule": finding.rule,
        "severity": finding.level.name(),
        "message": finding.message,
        "help": finding.help,
        "node": graph.map(|graph| &graph.node),
        "graph": graph.map(|graph| &graph.graph),
        "location": location(&finding.place, &finding.label),
        "source": finding.source.as_ref().map(source),
        "related": finding.related.iter().map(|related| json!({
            "message": related.message,
            "node": related.place.graph().map(|graph| &graph.node),
            "graph": related.place.graph().map(|graph| &graph.graph),
            "location": location(&related.place, ""),
            "source": related.place.source().map(source),
        })).collect::<Vec<Value>>(),
        "fix": finding.fix.as_ref().map(|fix| json!({
            "applicability": applicability(fix.applicability),
            "summary": fix.summary,
        })),
        "fingerprint": finding.fingerprint(),
    })
}

pub fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
    }
}

fn source(source: &SourcePlace) -> Value {
    json!({ "file": source.file, "line": source.line, "column": source.column, "code": source.code })
}

/// Where in the file that was linted; null for the file as a whole, or where only the source is known.
fn location(place: &Place, label: &str) -> Value {
    match place {
        Place::File | Place::Source(_) => Value::Null,
        Place::Offset(offset) => json!({ "offset": offset, "label": label }),
        Place::Graph(graph) => json!({
            "index": graph.position.0,
            "count": graph.position.1,
            "text": graph.text,
            "start": graph.span.0,
            "end": graph.span.1,
            "label": label,
        }),
        Place::Text(text) => json!({
            "line": text.line,
            "column": text.column,
            "width": text.width,
            "text": text.text,
            "label": label,
        }),
    }
}
