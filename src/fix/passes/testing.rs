//! Models for tests of passes.

use crate::graph::Model;
use crate::read;

/// Parses a graph of opset 17.
pub fn model(graph: &str) -> Model {
    let text = format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}");
    let (model, findings) = read::text::read(&text);
    assert_eq!(findings, [], "{text}");
    model.expect("the text is a model")
}
