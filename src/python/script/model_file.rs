//! Models in files that the script exports.

use std::rc::Rc;

use tree_sitter::Node;

use super::tensor::{DType, Shape};

/// Class of the sessions of ONNX Runtime.
pub const SESSION: &str = "onnxruntime.InferenceSession";

/// A model in a file that the script exported.
#[derive(Debug)]
pub struct ModelFile<'t> {
    pub inputs: Vec<FileInput>,
    /// Whether the file has no other inputs.
    pub is_complete: bool,
    /// Names of the outputs, of which a name may be unknown; `None` if their number is unknown.
    pub outputs: Option<Vec<Option<Rc<str>>>>,
    /// The export, preceded by the index of its file.
    pub export: (usize, Node<'t>),
}

/// An input of a model in a file.
#[derive(Debug)]
pub struct FileInput {
    pub name: Rc<str>,
    /// Sizes that the file fixes; `None` for dynamic axes.
    pub shape: Shape,
    pub dtype: Option<DType>,
    /// Whether the exporter drops the input, because `forward` does not use it.
    pub is_dropped: bool,
}

/// Returns a path without a leading `./`.
pub fn file_key(path: &str) -> Rc<str> {
    Rc::from(path.trim_start_matches("./"))
}
