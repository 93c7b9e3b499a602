//! Limits on one remote file.

use std::time::Duration;

/// Limits on reading one remote file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time until all reading ends.
    pub deadline: Duration,
    /// Maximum number of bytes that are read and kept in memory.
    pub memory: u64,
    /// Whether ranges are cached on disk by ETag.
    pub cache: bool,
}

impl Default for Limits {
    /// Returns limits of 5 minutes and 512 MB, with the cache enabled.
    fn default() -> Self {
        Limits { deadline: Duration::from_secs(300), memory: 512 << 20, cache: true }
    }
}
