//! The forms that a model has in files.

use std::path::Path;

use bytes::Bytes;

use crate::graph::Model;
use crate::read::sniff::Kind;
use crate::write;
use crate::write::onnx::{Encodable, PROTOBUF_LIMIT};

/// How a model is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelFormat {
    /// Protobuf (`.onnx`): what every runtime takes.
    #[default]
    Binary,
    /// ONNX text (`.onnxtxt`), which has no place for all of a model: see [`write::text`].
    OnnxText,
    /// Protobuf's text format (`.textproto`, `.pbtxt`, `.prototxt`).
    Textproto,
    /// Protobuf's JSON format (`.json`).
    Json,
}

impl ModelFormat {
    /// The form of a file whose content is of this kind.
    pub fn of_kind(kind: Kind) -> ModelFormat {
        match kind {
            Kind::OnnxText => ModelFormat::OnnxText,
            Kind::Textproto => ModelFormat::Textproto,
            Kind::Json => ModelFormat::Json,
            _ => ModelFormat::Binary,
        }
    }

    /// As the ending of a name says; `None` where it says nothing.
    pub fn of_path(path: &Path) -> Option<ModelFormat> {
        match path.extension()?.to_str()? {
            "onnx" => Some(ModelFormat::Binary),
            "onnxtxt" => Some(ModelFormat::OnnxText),
            "textproto" | "pbtxt" | "prototxt" => Some(ModelFormat::Textproto),
            "json" => Some(ModelFormat::Json),
            _ => None,
        }
    }

    /// A model in this form, in pieces to be written one after the other, weights shared with it. `None` where it
    /// is too large for one message of protobuf, unless weights go to other files.
    ///
    /// # Errors
    /// What the form cannot hold: messages that nest too deep to be read back.
    pub fn encode(self, model: &Model) -> Result<Option<Vec<Bytes>>, String> {
        let text = match self {
            ModelFormat::Binary => {
                let message = Encodable::new(model);
                return Ok((message.len() <= PROTOBUF_LIMIT).then(|| message.pieces()));
            }
            ModelFormat::OnnxText => write::text::write(model),
            ModelFormat::Textproto => write::onnx::to_textproto(model)?,
            ModelFormat::Json => write::onnx::to_json(model)?,
        };
        Ok(Some(vec![Bytes::from(text)]))
    }
}
