//! File formats of models.

use std::path::Path;

use bytes::Bytes;

use crate::graph::Model;
use crate::read::sniff::Kind;
use crate::write;
use crate::write::onnx::{Encodable, PROTOBUF_LIMIT};

/// File format of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelFormat {
    /// Protobuf (`.onnx`), the format of all runtimes.
    #[default]
    Binary,
    /// ONNX text (`.onnxtxt`), which loses some parts of a model; see [`write::text`].
    OnnxText,
    /// Protobuf's text format (`.textproto`, `.pbtxt`, `.prototxt`).
    Textproto,
    /// Protobuf's JSON format (`.json`).
    Json,
}

impl ModelFormat {
    /// Returns the format for a kind of file content: a text format, or else `Binary`.
    pub fn of_kind(kind: Kind) -> ModelFormat {
        match kind {
            Kind::OnnxText => ModelFormat::OnnxText,
            Kind::Textproto => ModelFormat::Textproto,
            Kind::Json => ModelFormat::Json,
            _ => ModelFormat::Binary,
        }
    }

    /// Returns the format for a file extension; `None` for other extensions.
    pub fn of_path(path: &Path) -> Option<ModelFormat> {
        match path.extension()?.to_str()? {
            "onnx" => Some(ModelFormat::Binary),
            "onnxtxt" => Some(ModelFormat::OnnxText),
            "textproto" | "pbtxt" | "prototxt" => Some(ModelFormat::Textproto),
            "json" => Some(ModelFormat::Json),
            _ => None,
        }
    }

    /// Encodes a model to consecutive pieces. In the binary format, large weights are shared, not copied.
    ///
    /// Returns `None` if the binary format would exceed its size limit; then weights must become external.
    ///
    /// # Errors
    /// The format cannot represent the model: messages nest too deep to be read back.
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
