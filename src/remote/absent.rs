//! Remote files in builds without the feature `remote`: each is refused.

use std::path::Path;

use bytes::Bytes;

use super::{Failure, Limits, Uri};
use crate::graph::RangeRead;

/// A remote file, which cannot exist in this build.
#[derive(Debug)]
pub enum RemoteFile {}

/// Refuses the file.
///
/// # Errors
/// Always: this build does not support URIs.
pub fn open(_: &Uri, _: Limits, _: Option<&str>) -> Result<RemoteFile, Failure> {
    Err(Failure::Unsupported)
}

/// Refuses the file.
///
/// # Errors
/// Always: this build does not support URIs.
pub fn download(_: &Uri, _: &Path, _: u64, _: Limits) -> Result<(), Failure> {
    Err(Failure::Unsupported)
}

impl RemoteFile {
    /// Returns the ETag.
    pub fn etag(&self) -> Option<&str> {
        match *self {}
    }

    /// Returns the start of the file.
    pub fn start(&self) -> Bytes {
        match *self {}
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// A request fails.
    pub fn whole(&self) -> Result<Bytes, Failure> {
        match *self {}
    }

    /// Ends reading.
    ///
    /// # Errors
    /// A request failed.
    pub fn finish(&self) -> Result<(), Failure> {
        match *self {}
    }
}

impl RangeRead for RemoteFile {
    fn size(&self) -> u64 {
        match *self {}
    }

    fn read(&self, _: u64, _: usize) -> Option<Bytes> {
        match *self {}
    }
}
