//! JSON output: `json` and `json-lines`.

use serde_json::{Map, Value, json};

use super::Run;
use crate::diag::{Applicability, Finding, Place, Rewrite, SourcePlace};

/// Renders all findings as one array.
pub fn array(run: Run) -> String {
    super::pretty(&run.findings.iter().map(object).collect::<Vec<Value>>())
}

/// Renders one object per line.
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
        "notes": finding.notes,
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
        "rewrite": finding.rewrite.as_ref().map(rewrite),
        "fingerprint": finding.fingerprint(),
    })
}

/// Renders a rewrite; its positions refer to the file of `source`.
fn rewrite(rewrite: &Rewrite) -> Value {
    json!({
        "applicability": applicability(rewrite.applicability),
        "line": rewrite.start.line,
        "column": rewrite.start.column,
        "end_line": rewrite.end.line,
        "end_column": rewrite.end.column,
        "text": rewrite.text,
    })
}

/// Returns the name of an applicability.
pub fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
    }
}

/// Renders a location in a Python file; unknown fields are omitted.
fn source(source: &SourcePlace) -> Value {
    let end = (source.column > 0 && source.width > 0).then(|| source.column.saturating_add(source.width));
    known([
        ("file", json!(source.file)),
        ("cell", json!(source.cell.map(|cell| cell.number))),
        ("line", json!(source.cell.map_or(source.line, |cell| cell.line))),
        ("column", json!(Some(source.column).filter(|&column| column > 0))),
        ("end_column", json!(end)),
        ("function", json!(source.function)),
        ("code", json!(source.code)),
    ])
}

/// Renders a location in the linted file, in one format for all kinds of files.
/// `code` is the line, or the node or declaration as ONNX text; columns are 1-based. Null for the whole file.
fn location(place: &Place, label: &str) -> Value {
    let label = json!(Some(label).filter(|label| !label.is_empty()));
    match place {
        Place::File => Value::Null,
        Place::Source(at) => {
            let mut location = source(at);
            location["label"] = label;
            known(std::mem::take(location.as_object_mut().unwrap_or(&mut Map::new())))
        }
        Place::Offset(offset) => known([("offset", json!(offset)), ("label", label)]),
        Place::Graph(graph) => {
            let column = |byte: u32| {
                let before = graph.text.char_indices().take_while(|(at, _)| *at < byte as usize);
                before.count() + 1
            };
            let (index, count) = graph.position;
            let is_node = index > 0;
            let (start, end, code) = match &graph.at {
                Some(text) => {
                    let end = text.column.saturating_add(text.width);
                    (text.column as usize, end as usize, &text.text)
                }
                None => (column(graph.span.0), column(graph.span.1), &graph.text),
            };
            known([
                ("node_index", json!(is_node.then_some(index))),
                ("node_count", json!(is_node.then_some(count))),
                ("line", json!(graph.at.as_ref().map(|text| text.line))),
                ("column", json!(start)),
                ("end_column", json!(end)),
                ("code", json!(Some(code).filter(|code| !code.is_empty()))),
                ("label", label),
            ])
        }
        Place::Text(text) => known([
            ("line", json!(text.line)),
            ("column", json!(text.column)),
            ("end_column", json!(text.column.saturating_add(text.width))),
            ("code", json!(text.text)),
            ("label", label),
        ]),
    }
}

/// Creates an object of the fields that are not null.
fn known<K: Into<String>>(fields: impl IntoIterator<Item = (K, Value)>) -> Value {
    let fields = fields.into_iter().map(|(key, value)| (key.into(), value));
    Value::Object(fields.filter(|(_, value)| !value.is_null()).collect())
}
