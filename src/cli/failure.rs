//! How a run ends.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::diag::{unreadable, unwritable};

/// How a run that could be carried out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing was found, or all that was asked is done.
    Clean,
    /// Something was found, would be changed, or could not be converted.
    Found,
    /// A file could not be read.
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

/// Why a run could not be carried out: wrong arguments, a bad configuration, a file that cannot be
/// written. Exit status 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }

    /// `error` about the file at `path`.
    pub fn at(path: &Path, error: impl Display) -> Self {
        Failure(format!("{}: {error}", path.display()))
    }

    /// The file at `path` cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Failure(unreadable(path, error))
    }

    /// The file at `path` cannot be written.
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        Failure(unwritable(path, error))
    }

    pub fn message(&self) -> &str {
        &self.0
    }
}

/// The exit code of a run; a failure is said on standard error.
pub fn code(ended: Result<Status, Failure>) -> u8 {
    ended.map_or_else(
        |failure| {
            eprintln!("error: {}", failure.message());
            Status::Failed.into()
        },
        u8::from,
    )
}
