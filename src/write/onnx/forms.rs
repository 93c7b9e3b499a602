//! Writes the textual formats of protobuf: text (`.textproto`) and JSON.

use prost_reflect::DynamicMessage;
use prost_reflect::text_format::FormatOptions;

use super::Encodable;
use crate::graph::Model;
use crate::read::onnx::forms::MODEL;

/// Returns a model in protobuf's text format.
///
/// # Errors
/// Messages nest too deep to be read back.
pub fn to_textproto(model: &Model) -> Result<String, String> {
    let mut text = message(model)?.to_text_format_with_options(&FormatOptions::new().pretty(true));
    text.push('\n');
    Ok(text)
}

/// Returns a model in protobuf's JSON format.
///
/// # Errors
/// Messages nest too deep to be read back.
pub fn to_json(model: &Model) -> Result<String, String> {
    let json = serde_json::to_string_pretty(&message(model)?).map_err(|error| error.to_string())?;
    Ok(json + "\n")
}

/// Converts a model to a dynamic message. Fails only if messages nest too deep to be read back.
fn message(model: &Model) -> Result<DynamicMessage, String> {
    let mut message = DynamicMessage::new(MODEL.clone());
    message.transcode_from(&Encodable::new(model).message).map_err(|error| error.to_string())?;
    Ok(message)
}
