//! Reads the binary form of a model: protobuf over a mapped file, tensor bytes left where they are.

pub mod forms;
mod messages;
mod scope;

use bytes::Bytes;
use prost::Message;

pub use forms::{read_json, read_textproto};

use crate::diag::{Finding, Level, Place};
use crate::graph::Model;
use crate::proto::ModelProto;

/// A file that cannot be read as a model at all.
fn unreadable(message: String) -> Finding {
    Finding::new("SPC001", "unreadable-model", Level::Error, message, Place::File)
}

fn not_protobuf(bytes: &Bytes, error: &prost::DecodeError) -> Finding {
    let finding = unreadable(format!("this is no ONNX model: {error}"));
    match bytes.len() {
        0 => unreadable("the file is empty".into()),
        _ => finding.help("export the model again; a file that was cut off, or stored as text or as a Git LFS pointer, reads like this"),
    }
}

fn no_graph() -> Finding {
    unreadable("this is no ONNX model: it has no graph".into()).help(
        "a model is a `ModelProto` with a `graph`; a single tensor or graph saved on its own is not one",
    )
}

fn unknown_fields(written: usize, read: usize) -> Finding {
    let message = format!(
        "the file has parts that this version does not know: {read} bytes were read, {written} would be written back"
    );
    Finding::new("SPC002", "unknown-fields", Level::Info, message, Place::File)
        .note("onnx-fix would lose what it does not know; nothing is lost by linting")
}

/// Reads a model from the bytes of an `.onnx` file.
///
/// The model is `None` where the bytes are none; faults inside a model are for the rules to find.
pub fn read(bytes: Bytes) -> (Option<Model>, Vec<Finding>) {
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
