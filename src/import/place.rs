//! Source locations of nodes, in the metadata keys that PyTorch's own exporter uses.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::Metadata;
use crate::torch::Node;

/// Interned metadata strings that many nodes share: source lines and module paths.
#[derive(Default)]
pub struct SourceKeys {
    shared: FxHashMap<String, Arc<str>>,
}

impl SourceKeys {
    fn shared(&mut self, text: String) -> Arc<str> {
        self.shared.entry(text).or_insert_with_key(|text| Arc::from(text.as_str())).clone()
    }
}

/// Returns metadata with the Python line and the module that a node came from.
pub fn metadata(node: &Node, keys: &mut SourceKeys) -> Metadata {
    let mut metadata = Metadata::new();
    if let Some(place) = &node.source {
        let function = place.function.as_deref().unwrap_or("forward");
        let mut text = format!("File \"{}\", line {}, in {function}", place.file, place.line);
        if let Some(code) = &place.code {
            text += &format!("\n    {code}");
        }
        metadata.push((Arc::from("pkg.torch.onnx.stack_trace"), keys.shared(text)));
    }
    if !node.scope.is_empty() {
        let scopes = node.scope.split('/').filter(|scope| !scope.is_empty());
        let mut text: String = scopes.map(|scope| format!("{scope}: /")).collect();
        text += &format!("{}: {}", node.op.name, node.op);
        metadata.push((Arc::from("namespace"), keys.shared(text)));
    }
    metadata
}
