//! Writes ONNX text (`.onnxtxt`).

use crate::graph::Model;
use crate::graph::syntax;

/// Returns the model as ONNX text.
///
/// The format has no syntax for doc strings and metadata of nodes and values, sparse tensors and
/// quantization annotations; they are lost.
pub fn write(model: &Model) -> String {
    let mut text = syntax::print(model).text;
    text.push('\n');
    text
}
