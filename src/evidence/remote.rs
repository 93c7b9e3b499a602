//! Reading of remote files for linting; ONNX models are read only in part if possible.

use std::io;

use super::{Content, Input};
use crate::diag::{Finding, Place, rule_ids};
use crate::read::onnx;
use crate::read::sniff::{Kind, sniff};
use crate::remote::Source;

/// Reads the needed parts of a binary ONNX model if possible; otherwise, reads the whole remote file.
pub fn read(input: &Input, remote: &Source) -> io::Result<Content> {
    let file = remote.file().map_err(io::Error::other)?;
    let kind = input.kind.unwrap_or_else(|| sniff(&input.name, &file.start()));
    if kind == Kind::Onnx
        && let Some((model, findings)) = onnx::read_sparse(file.clone())
    {
        return Ok(Content::Model(model.map(Box::new), findings));
    }
    Ok(Content::Bytes(kind, file.whole().map_err(io::Error::other)?))
}

/// Ends reading, and returns the finding that replaces all others if a request failed.
pub fn finish(remote: &Source) -> Option<Finding> {
    let failure = remote.file().and_then(|file| file.finish()).err()?;
    Some(rule_ids::UNREADABLE_MODEL.finding(format!("cannot be read: {failure}"), Place::File))
}
