//! Reads the textual formats of protobuf: text (`.textproto`) and JSON.

use std::sync::LazyLock;

use bytes::Bytes;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage as _, Value};

use super::unreadable;
use crate::diag::Finding;
use crate::graph::Model;

/// Maximum nesting of messages; equal to the limit of the binary reader.
const MAX_DEPTH: usize = 100;

/// Descriptor of `onnx.ModelProto` for reflection.
pub(crate) static MODEL: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    let descriptors = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
    let pool = DescriptorPool::decode(&descriptors[..]).expect("the build script encoded it");
    pool.get_message_by_name("onnx.ModelProto").expect("proto/onnx.proto defines it")
});

/// Reads a model in protobuf's text format.
pub fn read_textproto(text: &str) -> (Option<Model>, Vec<Finding>) {
    if depth(text) > MAX_DEPTH {
        let message = format!("not a valid ONNX model: messages nest more than {MAX_DEPTH} levels deep");
        return (None, vec![unreadable(message)]);
    }
    read(DynamicMessage::parse_text_format(MODEL.clone(), text).map_err(|error| error.to_string()))
}

/// Reads a model in protobuf's JSON format.
pub fn read_json(text: &str) -> (Option<Model>, Vec<Finding>) {
    let mut json = serde_json::Deserializer::from_str(text);
    let message = DynamicMessage::deserialize(MODEL.clone(), &mut json);
    read(message.and_then(|message| json.end().map(|()| message)).map_err(|error| error.to_string()))
}

/// Finds a field of a model in the binary format that `proto/onnx.proto` does not define.
///
/// Returns the name of the message that has the field, and the number of the field.
pub(super) fn unknown_field(model: Bytes) -> Option<(String, u32)> {
    unknown_in(&DynamicMessage::decode(MODEL.clone(), model).ok()?)
}

/// Searches a message and the messages in it; the decoder limits their nesting.
fn unknown_in(message: &DynamicMessage) -> Option<(String, u32)> {
    let own = message.unknown_fields().next().map(|field| field.number());
    if let Some(number) = own {
        return Some((message.descriptor().name().to_owned(), number));
    }
    message.fields().find_map(|(_, value)| match value {
        Value::Message(inner) => unknown_in(inner),
        Value::List(items) => items.iter().find_map(|item| unknown_in(item.as_message()?)),
        _ => None,
    })
}

fn read(message: Result<DynamicMessage, String>) -> (Option<Model>, Vec<Finding>) {
    match message {
        Ok(message) => super::read(Bytes::from(message.encode_to_vec())),
        Err(error) => (None, vec![unreadable(format!("not a valid ONNX model: {error}"))]),
    }
}

/// Returns the maximum nesting of brackets outside of strings: the recursion depth of the text parser.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quote) = (0usize, 0, None);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', Some(_)) => drop(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'{' | b'<' | b'[', None) => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (b'}' | b'>' | b']', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: (Option<Model>, Vec<Finding>), expected: Result<&str, &str>) {
        let (model, findings) = read;
        match expected {
            Ok(op) => {
                let model = model.unwrap_or_else(|| panic!("not read: {findings:?}"));
                let ops: Vec<&str> = model.nodes.iter().map(|(_, node)| &*node.op_type).collect();
                assert_eq!(ops, [op]);
            }
            Err(message) => assert!(findings[0].message.contains(message), "{findings:?}"),
        }
    }

    #[test]
    fn text_and_json_are_read() {
        check(read_textproto("ir_version: 8\ngraph { node { op_type: \"Relu\" } }"), Ok("Relu"));
        check(read_json(r#"{"irVersion": "8", "graph": {"node": [{"opType": "Relu"}]}}"#), Ok("Relu"));
    }

    #[test]
    fn invalid_text_and_json_are_findings() {
        check(read_textproto("ir_version: 8\ngraf { }"), Err("graf"));
        check(read_textproto(&"graph {".repeat(1 << 20)), Err("more than 100 levels deep"));
        check(read_textproto("ir_version: 8"), Err("no `graph`"));
        check(read_json(r#"{"graph": ["#), Err("not a valid ONNX model"));
        check(read_json(r#"{"graph": {}} x"#), Err("not a valid ONNX model"));
        check(read_json(&"{\"graph\":".repeat(1 << 20)), Err("not a valid ONNX model"));
    }

    #[test]
    fn braces_in_strings_do_not_nest() {
        assert_eq!(depth(r#"a { b: "{{\"{" c: '{"' }"#), 1);
    }
}
