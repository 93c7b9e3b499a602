//! Reads ONNX text (`.onnxtxt`).

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::Model;
use crate::graph::syntax::{self, Source, TextSpans};

/// Maximum size of a text, in bytes: positions are 32-bit numbers.
const MAX_BYTES: usize = u32::MAX as usize;

fn too_long(bytes: usize) -> Finding {
    let message = format!("the text has {bytes} bytes; at most {MAX_BYTES} are supported");
    rule_ids::BAD_ONNX_TEXT.finding(message, Place::File).help("convert the model to the binary format")
}

/// Reads a model from ONNX text.
///
/// Nodes and declarations with errors are left out of the model. The model is `None` after an error from
/// which the parser cannot recover.
pub fn read(text: &str) -> (Option<Model>, Vec<Finding>) {
    let (model, _, findings) = with_spans(text);
    (model, findings)
}

/// Reads a model like [`read`], and returns the spans of its parts.
pub fn with_spans(text: &str) -> (Option<Model>, Option<TextSpans>, Vec<Finding>) {
    if text.len() > MAX_BYTES {
        return (None, None, vec![too_long(text.len())]);
    }
    let parsed = syntax::parse(&Source::new("", text));
    (parsed.model, Some(parsed.spans), parsed.findings)
}
