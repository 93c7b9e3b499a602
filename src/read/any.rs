//! Reads a model in any of its file formats.

use std::str::Utf8Error;

use bytes::Bytes;

use super::sniff::Kind;
use super::{onnx, text};
use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::Model;
use crate::graph::syntax::TextSpans;

fn lfs_pointer() -> Finding {
    let message = "the file is a Git LFS pointer: the model itself was not fetched";
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File).help("fetch it with `git lfs pull`")
}

fn no_model() -> Finding {
    let message = "unrecognized file type";
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File)
}

fn not_utf8(error: Utf8Error) -> Finding {
    let message = format!("the text is not valid UTF-8: {error}");
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File)
}

/// Reads ONNX text like [`model`], and returns the spans of its parts.
pub fn onnx_text(bytes: &[u8]) -> (Option<Model>, Option<TextSpans>, Vec<Finding>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => text::with_spans(text),
        Err(error) => (None, None, vec![not_utf8(error)]),
    }
}

/// Reads a model from `bytes`, of the `kind` that [`super::sniff::sniff`] returned.
///
/// The model is `None` if the bytes are not a model; a finding gives the reason.
pub fn model(kind: Kind, bytes: Bytes) -> (Option<Model>, Vec<Finding>) {
    let read: fn(&str) -> (Option<Model>, Vec<Finding>) = match kind {
        Kind::Onnx => return onnx::read(bytes),
        Kind::OnnxText => text::read,
        Kind::Textproto => onnx::read_textproto,
        Kind::Json => onnx::read_json,
        Kind::LfsPointer => return (None, vec![lfs_pointer()]),
        _ => return (None, vec![no_model()]),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => read(text),
        Err(error) => (None, vec![not_utf8(error)]),
    }
}
