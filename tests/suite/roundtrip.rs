//! Reading and writing preserves every field of a model.

use onnx_lint::proto::ModelProto;
use onnx_lint::{read, write};
use prost::Message;

use crate::models;

#[test]
fn binary_round_trip_preserves_models() {
    for path in models::all() {
        let bytes = models::bytes(&path);
        let (model, findings) = read::onnx::read(bytes.clone());
        assert_eq!(findings, [], "{}", path.display());
        let model = model.unwrap_or_else(|| panic!("{}: unreadable", path.display()));
        let written = write::onnx::Encodable::new(&model).encode();
        let (before, after) = (ModelProto::decode(bytes), ModelProto::decode(&*written));
        assert!(before == after, "{}: the message differs", path.display());
    }
}
