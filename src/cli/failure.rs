//! How a run ends.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

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

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Clean => 0,
            Status::Found => 1,
            Status::Failed => 2,
        })
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
        Failure::at(path, format!("cannot be read: {}", reason(error)))
    }

    /// The file at `path` cannot be written.
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let why = match folder {
            Some(folder) => format!("there is no folder `{}`", folder.display()),
            None if path.is_dir() => "it is a folder".to_owned(),
            None => reason(error),
        };
        Failure::at(path, format!("cannot be written: {why}"))
    }

    pub fn message(&self) -> &str {
        &self.0
    }
}

/// Why the operating system refused, as a person says it.
pub fn reason(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::NotFound => "it is not there",
        ErrorKind::PermissionDenied => "there is no permission to",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::NotADirectory => "what stands above it is no folder",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the quota of the disk is used up",
        ErrorKind::ReadOnlyFilesystem => "the disk cannot be written to",
        ErrorKind::InvalidData => "it is no UTF-8",
        _ => return without_number(&error.to_string()),
    };
    known.to_owned()
}

/// Without the `(os error 5)` at its end, which says the same to a machine, and the name of a temporary file.
fn without_number(text: &str) -> String {
    let text = text.split(" (os error ").next().unwrap_or(text);
    let text = text.split(" at path ").next().unwrap_or(text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The exit code of a run; a failure is said on standard error.
pub fn exit(ended: Result<Status, Failure>) -> ExitCode {
    ended.map_or_else(
        |failure| {
            eprintln!("error: {}", failure.message());
            Status::Failed.into()
        },
        ExitCode::from,
    )
}
