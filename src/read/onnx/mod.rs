//! Reads the binary format of a model.
//!
//! It is protobuf over a memory-mapped file; `raw_data` is not copied.

pub(crate) mod forms;
mod messages;
mod scope;

use bytes::Bytes;
use prost::Message;

pub use forms::{read_json, read_textproto};

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::Model;
use crate::proto::ModelProto;

/// Reports a file that is not a model.
fn unreadable(message: String) -> Finding {
    rule_ids::UNREADABLE_MODEL.finding(message, Place::File)
}

fn empty() -> Finding {
    unreadable("the file is empty".into())
}

fn not_protobuf(bytes: &[u8], error: &prost::DecodeError) -> Finding {
    if let Some(start) = text_start(bytes) {
        return unreadable(format!("not a valid ONNX model, but text that starts with `{start}`"));
    }
    unreadable(format!("not a valid ONNX model (truncated?): {}", reason(error)))
        .help("export or download the model again")
}

/// Returns the reason of an error without its field path, which may be as long as the file.
fn reason(error: &prost::DecodeError) -> String {
    let text = error.to_string();
    let parts = text.trim_start_matches("failed to decode Protobuf message: ").split(": ");
    let is_field = |part: &&str| part.contains('.') && !part.contains(' ');
    parts.skip_while(is_field).collect::<Vec<_>>().join(": ")
}

/// Returns the start of the first line of the file if it is text.
fn text_start(bytes: &[u8]) -> Option<&str> {
    const SHOWN: usize = 40;
    let start = bytes.get(..SHOWN).unwrap_or(bytes).trim_ascii();
    let start = std::str::from_utf8(start).ok()?.lines().next()?;
    start.chars().all(|char| !char.is_control()).then_some(start)
}

fn no_graph() -> Finding {
    unreadable("not a valid ONNX model: it has no `graph`".into())
        .help("save a `ModelProto` with a `graph`; a `TensorProto` or `GraphProto` on its own is not a model")
}

fn unknown_fields(written: usize, read: usize) -> Finding {
    let message =
        format!("the file has fields unknown to this version: only {written} of {read} bytes were decoded");
    rule_ids::UNKNOWN_FIELDS
        .finding(message, Place::File)
        .note("onnx-fix would drop the unknown fields; linting does not change the file")
}

/// Reads a model from the bytes of an `.onnx` file.
///
/// The model is `None` if the bytes are not a model. Rules report the faults inside a model.
pub fn read(bytes: Bytes) -> (Option<Model>, Vec<Finding>) {
    if bytes.is_empty() {
        return (None, vec![empty()]);
    }
    let mut findings = Vec::new();
    let proto = match ModelProto::decode(bytes.clone()) {
        Ok(proto) => proto,
        Err(error) => return (None, vec![not_protobuf(&bytes, &error)]),
    };
    if proto.graph.is_none() {
        return (None, vec![no_graph()]);
    }
    let written = proto.encoded_len();
    if written != bytes.len() {
        findings.push(unknown_fields(written, bytes.len()));
    }
    (Some(scope::Builder::default().model(proto)), findings)
}
