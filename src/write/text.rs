//! Writes ONNX text (`.onnxtxt`).

use crate::graph::Model;
use crate::graph::syntax;

/// Returns the model as ONNX text.
///
/// The format loses some parts for which it has no syntax: doc strings and metadata of nodes and values,
/// sparse tensors, quantization annotations and others.
pub fn write(model: &Model) -> String {
    let mut text = syntax::print(model).text;
    text.push('\n');
    text
}
