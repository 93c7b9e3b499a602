//! Writes ONNX text (`.onnxtxt`).

use crate::graph::Model;
use crate::graph::syntax;

/// The model as ONNX text. Doc strings and metadata of nodes and values, sparse tensors and quantisation
/// annotations have no form there and are left out.
pub fn write(model: &Model) -> String {
    let mut text = syntax::print(model).text;
    text.push('\n');
    text
}
