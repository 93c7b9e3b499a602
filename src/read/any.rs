//! Reads a model in whichever form it is.

use std::str::Utf8Error;

use bytes::Bytes;

use super::sniff::Kind;
use super::{onnx, text};
use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::Model;

fn lfs_pointer() -> Finding {
    let message = "this is a Git LFS pointer: the model itself was not fetched";
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File).help("fetch it with `git lfs pull`")
}

fn no_model() -> Finding {
    let message = "this is no model, and nothing else that is known here";
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File)
}

fn not_utf8(error: Utf8Error) -> Finding {
    let message = format!("this text is not UTF-8: {error}");
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File)
}

/// Reads `bytes`, which [`super::sniff::sniff`] found to be of `kind`. The model is `None` where they are
/// none.
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
