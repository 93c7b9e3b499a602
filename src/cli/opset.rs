//! Opsets from arguments and configurations.

use super::Failure;
use crate::schema;

/// Parses the value of `--opset`.
pub fn parse(text: &str) -> Result<i64, String> {
    let opset = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    known(opset)
}

/// Returns the opset if ONNX has an opset with this number.
pub fn known(opset: i64) -> Result<i64, String> {
    let latest = schema::latest("").map_or(0, i64::from);
    match (1..=latest).contains(&opset) {
        true => Ok(opset),
        false => Err(format!("there is no opset {opset}: opsets go from 1 to {latest}")),
    }
}

/// Checks the opset of a configuration.
pub fn configured(opset: Option<i64>, origin: &str) -> Result<Option<i64>, Failure> {
    opset.map(known).transpose().map_err(|why| Failure::new(format!("{origin}: {why}")))
}
