//! SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::json::applicability;
use super::spot::{Spot, message_and_help, node_path, place_spot, rewrite_here, spot, uri};
use super::{Page, Run};
use crate::diag::{Applicability, Finding, Level, Place, Rewrite};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Key of the fingerprint; its number changes with the algorithm.
const FINGERPRINT: &str = "onnxLint/v2";

/// Renders findings as SARIF.
pub fn render(run: Run) -> String {
    let mut rules: IndexMap<&str, &str> = IndexMap::new();
    for finding in run.findings {
        rules.insert(&finding.code, &finding.rule);
    }
    rules.sort_keys();
    let results: Vec<Value> = run.findings.iter().map(|finding| result(finding, &rules)).collect();
    super::pretty(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "onnx-lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|(code, name)| rule(code, name, run.pages)).collect::<Vec<Value>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts(run.files),
            "results": results,
        }],
    }))
}

/// Renders a rule, with its documentation if available.
fn rule(code: &str, name: &str, pages: &[Page]) -> Value {
    let mut rule = json!({ "id": code, "name": pascal_case(name), "shortDescription": { "text": name } });
    let Some(page) = pages.iter().find(|page| page.code == code) else { return rule };
    let family = code.trim_end_matches(|char: char| char.is_ascii_digit());
    rule["shortDescription"]["text"] = json!(format!("{name}: {}", page.summary));
    rule["fullDescription"] = json!({ "text": page.summary });
    rule["help"] = json!({ "text": plain(&page.text), "markdown": page.text });
    rule["defaultConfiguration"] = json!({ "level": level(page.level) });
    rule["properties"] = json!({ "tags": ["onnx", family] });
    if let Some(url) = &page.url {
        rule["helpUri"] = json!(url);
    }
    rule
}

/// Converts Markdown to plain text, for viewers without Markdown support.
fn plain(markdown: &str) -> String {
    markdown.replace("**", "").replace("```\n", "")
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info | Level::Hint => "note",
    }
}

/// Renders the linted files.
fn artifacts(files: &[Arc<str>]) -> Vec<Value> {
    files
        .iter()
        .map(|file| json!({ "location": { "uri": uri(file) }, "roles": ["analysisTarget"] }))
        .collect()
}

fn result(finding: &Finding, rules: &IndexMap<&str, &str>) -> Value {
    let mut result = json!({
        "ruleId": finding.code,
        "ruleIndex": rules.get_index_of(&*finding.code),
        "level": level(finding.level),
        "message": { "text": message_and_help(finding) },
        "locations": [location(spot(finding), &finding.place, &finding.label)],
        "partialFingerprints": { FINGERPRINT: finding.fingerprint() },
        "properties": { "model": finding.file },
    });
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|related| {
            let spot = place_spot(&finding.file, &related.place, finding.is_here);
            location(spot, &related.place, &related.message)
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some((rewrite, file)) = rewrite_here(finding) {
        result["fixes"] = json!([fix(rewrite, file)]);
    }
    if let Some(fix) = &finding.fix {
        result["properties"]["fix"] = json!({
            "applicability": applicability(fix.applicability),
            "summary": fix.summary,
        });
    }
    result
}

/// Renders a Python edit. SARIF cannot mark unsafe fixes, so the description does.
fn fix(rewrite: &Rewrite, file: &str) -> Value {
    let Rewrite { applicability, start, end, text } = rewrite;
    let region = json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    });
    let replacement = json!({ "deletedRegion": region, "insertedContent": { "text": text } });
    json!({
        "description": { "text": described(*applicability) },
        "artifactChanges": [{ "artifactLocation": { "uri": uri(file) }, "replacements": [replacement] }],
    })
}

/// Describes the guarantee of a rewrite.
fn described(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => {
            "rewrite the code so that it exports correctly; its results in Python stay equal"
        }
        Applicability::Unsafe => "rewrite the code so that it exports correctly; types or values may change",
    }
}

fn location(spot: Spot, place: &Place, message: &str) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(spot.file) } });
    if let Some(region) = region(spot, place) {
        physical["region"] = region;
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(graph) = place.graph() {
        location["logicalLocations"] = json!([{
            "name": graph.node,
            "fullyQualifiedName": node_path(graph),
            "kind": "element",
        }]);
    }
    if !message.is_empty() {
        location["message"] = json!({ "text": message });
    }
    location
}

fn region(spot: Spot, place: &Place) -> Option<Value> {
    if let Place::Offset(offset) = place {
        return Some(json!({ "byteOffset": offset }));
    }
    if spot.line == 0 {
        return None;
    }
    let mut region = Map::from_iter([("startLine".to_owned(), spot.line.into())]);
    if spot.column > 0 {
        region.insert("startColumn".to_owned(), spot.column.into());
    }
    if let Some(column) = spot.end_column() {
        region.insert("endColumn".to_owned(), column.into());
    }
    if let Some(code) = spot.code {
        region.insert("snippet".to_owned(), json!({ "text": code }));
    }
    Some(Value::Object(region))
}

/// Converts `baked-shape` to `BakedShape`, as SARIF viewers expect.
fn pascal_case(name: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
    };
    name.split('-').map(capital).collect()
}
