//! Exit statuses and failures of a run.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::diag::{unreadable, unwritable};

/// The outcome of a run, which determines its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// No finding fails the run, and every request was carried out.
    Clean,
    /// Findings that fail the run, pending changes with `--check`, an impossible fix or conversion, or
    /// models that are not proved equal.
    Found,
    /// The run failed, for example because a file could not be read.
    Failed,
}

impl From<Status> for u8 {
    fn from(status: Status) -> u8 {
        match status {
            Status::Clean => 0,
            Status::Found => 1,
            Status::Failed => 2,
        }
    }
}

/// The reason for which a run failed, with exit status 2.
///
/// Examples: invalid arguments, an invalid configuration, a file that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// Returns a failure with a message for standard error.
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }

    /// Returns a failure with `error` about the file at `path`.
    pub fn at(path: &Path, error: impl Display) -> Self {
        Failure(format!("{}: {error}", path.display()))
    }

    /// Returns the failure for a file that cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Failure(unreadable(path, error))
    }

    /// Returns the failure for a file that cannot be written.
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        Failure(unwritable(path, error))
    }

    /// Returns the failure for a fault of a tool itself.
    pub fn internal(tool: &str, what: impl Display) -> Self {
        Failure(format!("{tool} failed: {what}; please report this"))
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.0
    }
}

/// Returns the exit code of a run; prints a failure to standard error.
pub fn code(ended: Result<Status, Failure>) -> u8 {
    ended.map_or_else(
        |failure| {
            super::output::warn(&format!("error: {}\n", failure.message()));
            Status::Failed.into()
        },
        u8::from,
    )
}
