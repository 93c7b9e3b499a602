//! Downloads whole files, for tools that need all weights.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::file::Server;
use super::{Failure, Limits, Uri, request};

/// Downloads a file to `path`, of at most `limit` bytes.
///
/// # Errors
/// The file is not available or too large, or cannot be written. After an error, the file at
/// `path` may be incomplete.
pub fn download(uri: &Uri, path: &Path, limit: u64, limits: Limits) -> Result<(), Failure> {
    let unwritable =
        |error| Failure::Configuration(format!("the temporary file: {}", crate::diag::reason(&error)));
    let server = Server::new(uri, limits)?;
    let mut file = File::create(path).map_err(unwritable)?;
    let mut written = 0u64;
    let sink = |piece: &[u8]| {
        written += piece.len() as u64;
        if written > limit {
            return Err(Failure::TooLarge(limit));
        }
        file.write_all(piece).map_err(unwritable)
    };
    server.wait(request::whole(&server.located, sink, uri.scheme()))?;
    Ok(())
}
