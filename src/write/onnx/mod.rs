//! Writes the binary form of a model. What was not touched is written as it was read, field for field.

mod forms;
mod messages;
mod rope;
mod scope;

use bytes::Bytes;
use prost::Message;

pub use forms::{to_json, to_textproto};

use crate::graph::Model;
use crate::proto::ModelProto;

/// The most that one protobuf message may take: above it, tensors have to go to other files.
pub const PROTOBUF_LIMIT: usize = i32::MAX as usize;

/// The message of a model, ready to be encoded. Tensor bytes are shared with the model, not copied.
pub struct Encodable {
    message: ModelProto,
}

impl Encodable {
    /// The message of `model`.
    pub fn new(model: &Model) -> Self {
        Encodable { message: scope::model(model) }
    }

    /// Bytes that [`Encodable::encode`] gives.
    pub fn len(&self) -> usize {
        self.message.encoded_len()
    }

    /// Whether nothing would be written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file as a whole, weights copied; [`Encodable::pieces`] does without.
    pub fn encode(&self) -> Vec<u8> {
        self.message.encode_to_vec()
    }

    /// The same in pieces, to be written one after the other: weights are those of the model still.
    pub fn pieces(&self) -> Vec<Bytes> {
        let mut rope = rope::Rope::default();
        self.message.encode_raw(&mut rope);
        rope.into_pieces()
    }
}
