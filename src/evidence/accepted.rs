//! Suppressions in the metadata of a model.

use std::sync::Arc;

use crate::graph::Model;
use crate::lint::locate::node_name;

/// Metadata key of a model or node with suppressed rules: `EXP001, DTY: why`.
const METADATA_KEY: &str = "onnx-lint.ignore";

/// Rules whose findings are suppressed in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Name of the node; `None` for the whole model.
    pub node: Option<Arc<str>>,
    /// Codes, prefixes or names of rules, as written.
    pub words: Vec<String>,
}

/// Returns the suppressions in the metadata of a model and its nodes.
pub fn accepted(model: &Model) -> Vec<Accepted> {
    let of_nodes = model.nodes.iter().filter_map(|(_, node)| {
        let words = words(node.metadata(METADATA_KEY)?);
        Some(Accepted { node: Some(node_name(model, node)), words })
    });
    let own = model.metadata.iter().filter(|(key, _)| &**key == METADATA_KEY);
    let own = own.map(|(_, text)| Accepted { node: None, words: words(text) });
    own.chain(of_nodes).collect()
}

/// Parses the rules of `EXP001, DTY: why`.
fn words(text: &str) -> Vec<String> {
    let rules = text.split(':').next().unwrap_or("");
    rules.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}
