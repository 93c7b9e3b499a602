//! Model Explorer node data: an overlay that colors nodes and lists their findings.
//! <https://github.com/google-ai-edge/model-explorer/wiki/2.-User-Guide#custom-node-data>
//!
//! The data have the findings of one model. Nodes of subgraphs are left out, because the viewer does not know
//! their names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Run;
use super::spot::is_nested;
use crate::diag::{Finding, Level};

/// Renders the findings of one model as node data.
pub fn render(run: Run) -> String {
    let mut graphs: BTreeMap<&str, BTreeMap<&str, Vec<&Finding>>> = BTreeMap::new();
    for finding in run.findings {
        let Some(graph) = finding.place.graph().filter(|graph| !graph.node.is_empty() && !is_nested(graph))
        else {
            continue;
        };
        // An unnamed node is identified by its first output.
        let node = graph.node.trim_matches('"');
        graphs.entry(&graph.graph).or_default().entry(node).or_default().push(finding);
    }
    let graph = |(name, nodes): (&str, BTreeMap<&str, Vec<&Finding>>)| {
        let results = nodes.into_iter().map(|(node, findings)| (node.to_owned(), result(&findings)));
        let data = json!({
            "name": "onnx-lint",
            "results": Value::Object(results.collect()),
            "showExpandedSummaryOnGroupNode": true,
        });
        (name.to_owned(), data)
    };
    super::pretty(&Value::Object(graphs.into_iter().map(graph).collect()))
}

/// Renders the findings of a node, in the color of the highest level.
fn result(findings: &[&Finding]) -> Value {
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Hint);
    let mut codes: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.code, finding.rule)).collect();
    codes.dedup();
    let (background, text) = colours(worst);
    json!({ "value": format!("{worst}: {}", codes.join(", ")), "bgColor": background, "textColor": text })
}

/// Returns background and text color of a level, with sufficient contrast.
fn colours(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Error => ("#ffd7d5", "#82071e"),
        Level::Warning => ("#fff1c2", "#5c3b00"),
        Level::Info => ("#d8e9ff", "#0a3069"),
        Level::Hint => ("#eaeef2", "#32383f"),
    }
}
