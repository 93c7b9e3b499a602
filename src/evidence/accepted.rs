//! What a model says of itself that someone has looked at and accepts.

use std::sync::Arc;

use crate::graph::Model;
use crate::lint::locate::node_name;

/// Key of the metadata of a model, or of a node, that holds what is accepted there: `EXP001, DTY: why`.
const METADATA_KEY: &str = "onnx-lint.ignore";

/// Rules whose findings are accepted in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The name of the node; `None` for all of the model.
    pub node: Option<Arc<str>>,
    /// Codes, prefixes or names of rules, as they are written.
    pub words: Vec<String>,
}

/// What the metadata of a model and of its nodes accept.
pub fn accepted(model: &Model) -> Vec<Accepted> {
    let of_nodes = model.nodes.iter().filter_map(|(_, node)| {
        let words = words(node.metadata(METADATA_KEY)?);
        Some(Accepted { node: Some(node_name(model, node)), words })
    });
    let own = model.metadata.iter().filter(|(key, _)| &**key == METADATA_KEY);
    let own = own.map(|(_, text)| Accepted { node: None, words: words(text) });
    own.chain(of_nodes).collect()
}

/// The rules of `EXP001, DTY: why`.
fn words(text: &str) -> Vec<String> {
    let rules = text.split(':').next().unwrap_or("");
    rules.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}
