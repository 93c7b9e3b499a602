//! Reads ONNX text (`.onnxtxt`).

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::Model;
use crate::graph::syntax::{self, Source};

/// Texts are indexed with 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

fn too_long(bytes: usize) -> Finding {
    let message = format!("this text of {bytes} bytes is too long: at most {MAX_BYTES} are read");
    rule_ids::BAD_ONNX_TEXT.finding(message, Place::File).help("convert the model to its binary form")
}

/// Reads a model from ONNX text. The model is `None` where not even its graph could be read; otherwise
/// what has a fault is left out of it.
pub fn read(text: &str) -> (Option<Model>, Vec<Finding>) {
    if text.len() > MAX_BYTES {
        return (None, vec![too_long(text.len())]);
    }
    let parsed = syntax::parse(&Source::new("", text));
    (parsed.model, parsed.findings)
}
