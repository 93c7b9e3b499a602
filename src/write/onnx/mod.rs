//! Writes the protobuf formats of a model. Fields that were not edited keep their values.

mod forms;
mod messages;
mod rope;
mod scope;

use bytes::Bytes;
use prost::Message;

pub use forms::{to_json, to_textproto};

use crate::graph::Model;
use crate::proto::ModelProto;

/// Maximum size of a protobuf message, in bytes. Larger models need external data.
pub const PROTOBUF_LIMIT: usize = i32::MAX as usize;

/// Protobuf message of a model. `raw_data` is shared with the model, not copied.
pub struct Encodable {
    message: ModelProto,
}

impl Encodable {
    /// Creates the message of `model`.
    pub fn new(model: &Model) -> Self {
        Encodable { message: scope::model(model) }
    }

    /// Returns the length of the encoded message, in bytes.
    pub fn len(&self) -> usize {
        self.message.encoded_len()
    }

    /// Returns true if the encoded message is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Encodes the message to one buffer, with a copy of the weights. See [`Encodable::pieces`].
    pub fn encode(&self) -> Vec<u8> {
        self.message.encode_to_vec()
    }

    /// Encodes the message to consecutive pieces. Large `raw_data` is shared with the model, not copied.
    pub fn pieces(&self) -> Vec<Bytes> {
        let mut rope = rope::Rope::default();
        self.message.encode_raw(&mut rope);
        rope.into_pieces()
    }
}
