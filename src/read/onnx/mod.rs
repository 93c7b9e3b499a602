//! Reads the binary format of a model.
//!
//! It is protobuf; `raw_data` is shared with the bytes of the file, not copied.

mod cursor;
pub(crate) mod forms;
mod messages;
mod scope;
pub mod sparse;
mod stop;

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

pub use forms::{read_json, read_textproto};
use sparse::Sparse;
use stop::Stop;

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::{Model, RangeRead};
use crate::proto::ModelProto;

/// Maximum size of a file that is decoded again to find its unknown fields, in bytes.
const LARGEST_SEARCHED: usize = 64 << 20;

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
    invalid(&reason(error))
}

fn invalid(why: &str) -> Finding {
    unreadable(format!("not a valid ONNX model (truncated?): {why}"))
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

fn unknown_field(message: &str, number: u32) -> Finding {
    let message = format!("the file has a field unknown to this version: number {number} of `{message}`");
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
    let proto = match decode(&bytes) {
        Ok(proto) => proto,
        Err(fault) => return (None, vec![*fault]),
    };
    let findings = decoded(&proto, &bytes, bytes.len() as u64, 0);
    (Some(scope::Builder::default().model(proto)), findings)
}

/// Like [`read`], but reads only the parts of a file that linting needs.
///
/// Large tensors stay in the file.
/// Returns `None` if the file must be read as a whole instead.
pub fn read_sparse(source: Arc<dyn RangeRead>) -> Option<(Option<Model>, Vec<Finding>)> {
    let size = source.size();
    if size == 0 {
        return Some((None, vec![empty()]));
    }
    let sparse = match Sparse::read(source) {
        Ok(sparse) => sparse,
        Err(Stop::Unusual) => return None,
        Err(Stop::Malformed(why)) => return Some((None, vec![invalid(why)])),
        Err(Stop::TooLarge(limit)) => {
            let limit = limit >> 20;
            let message = format!("the model has more than {limit} MB besides its large tensors");
            return Some((None, vec![unreadable(message)]));
        }
        // If the source cannot be read, its owner reports the failure.
        Err(Stop::Unavailable) => return Some((None, Vec::new())),
    };
    let proto = match decode(&sparse.bytes) {
        Ok(proto) => proto,
        Err(fault) => return Some((None, vec![*fault])),
    };
    let findings = decoded(&proto, &sparse.bytes, size, sparse.omitted);
    Some((Some(scope::Builder::of_sparse(sparse).model(proto)), findings))
}

fn decode(bytes: &Bytes) -> Result<ModelProto, Box<Finding>> {
    match ModelProto::decode(bytes.clone()) {
        Ok(proto) if proto.graph.is_none() => Err(Box::new(no_graph())),
        Ok(proto) => Ok(proto),
        Err(error) => Err(Box::new(not_protobuf(bytes, &error))),
    }
}

/// Returns the findings about a decoded message.
///
/// The file of the message has `size` bytes, `omitted` of which are not in `bytes`.
fn decoded(proto: &ModelProto, bytes: &Bytes, size: u64, omitted: u64) -> Vec<Finding> {
    // If the message, encoded again, is as long as the file, no unknown field was dropped. A different length
    // does not prove that a field was dropped: valid encodings of one message differ in length.
    if proto.encoded_len() as u64 + omitted == size {
        return Vec::new();
    }
    if bytes.len() > LARGEST_SEARCHED {
        return Vec::new();
    }
    let unknown = forms::unknown_field(bytes.clone());
    unknown.map(|(message, number)| unknown_field(&message, number)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a field whose number is below 16, and whose content is shorter than 128 bytes.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).expect("a short content");
        [&[number << 3 | 2, length], content].concat()
    }

    #[test]
    fn only_fields_without_definition_are_unknown() {
        let messages = |tensor: &[u8]| {
            let tensor = [tensor, &[0x10, 1], &field(8, b"w"), &field(9, &[0; 4])].concat();
            let graph = field(7, &[field(2, b"g"), field(5, &tensor)].concat());
            let (model, findings) = read(Bytes::from([vec![0x08, 8], graph].concat()));
            assert!(model.is_some(), "{findings:?}");
            findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        let dims = [0x08, 1].repeat(4);
        assert_eq!(messages(&dims), [""; 0]);
        // Repeated numbers may be packed.
        assert_eq!(messages(&field(1, &[1; 4])), [""; 0]);
        let more = [dims, field(15, b"new")].concat();
        let expected = "the file has a field unknown to this version: number 15 of `TensorProto`";
        assert_eq!(messages(&more), [expected]);
    }
}
