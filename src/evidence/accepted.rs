//! Suppressions in the metadata of a model.

use std::sync::Arc;

use crate::analyses::locate::{Locator, Part, node_name};
use crate::diag::Place;
use crate::graph::Model;
use crate::graph::syntax::TextSpans;
use crate::graph::uses::Uses;
use crate::source::SourceFiles;

/// Metadata key under which a model or node lists suppressed rules: `EXP001, DTY: why`.
const METADATA_KEY: &str = "onnx-lint.ignore";

/// Rules whose findings are suppressed in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Name of the node; `None` for the whole model.
    pub node: Option<Arc<str>>,
    /// Codes, prefixes or names of rules, as written.
    pub words: Vec<String>,
    /// The node, or the whole file.
    pub place: Place,
}

/// Returns the suppressions in the metadata of a model and its nodes.
///
/// `spans` has the positions of the nodes in the ONNX text that the model was read from, if any.
pub fn accepted(model: &Model, spans: Option<&TextSpans>) -> Vec<Accepted> {
    let own = model.metadata.iter().filter(|(key, _)| &**key == METADATA_KEY);
    let own = own.map(|(_, text)| Accepted { node: None, words: words(text), place: Place::File });
    let mut found: Vec<Accepted> = own.collect();
    let noted = model.nodes.iter().filter_map(|(id, node)| Some((id, node, node.metadata(METADATA_KEY)?)));
    let noted: Vec<_> = noted.collect();
    if noted.is_empty() {
        return found;
    }
    let (uses, sources) = (Uses::new(model), SourceFiles::default());
    let locator = Locator::new(model, &uses, &sources).within(spans);
    found.extend(noted.into_iter().map(|(id, node, text)| Accepted {
        node: Some(node_name(model, node)),
        words: words(text),
        place: locator.node(id, Part::Whole),
    }));
    found
}

/// Parses a list of rules, which a colon and a reason may follow: `EXP001, DTY: why`.
fn words(text: &str) -> Vec<String> {
    let rules = text.split(':').next().unwrap_or("");
    rules.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}
