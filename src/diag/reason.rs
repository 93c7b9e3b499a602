//! Faults of the operating system, as a person says them.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Why the operating system refused.
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

/// That the file at `path` cannot be read, and why.
pub fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("{}: cannot be read: {}", path.display(), reason(error))
}

/// That the file at `path` cannot be written, and why.
pub fn unwritable(path: &Path, error: &io::Error) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let why = match folder {
        Some(folder) => format!("there is no folder `{}`", folder.display()),
        None if path.is_dir() => "it is a folder".to_owned(),
        None => reason(error),
    };
    format!("{}: cannot be written: {why}", path.display())
}

/// Without the `(os error 5)` at its end, which says the same to a machine, and the name of a temporary file.
fn without_number(text: &str) -> String {
    let text = text.split(" (os error ").next().unwrap_or(text);
    let text = text.split(" at path ").next().unwrap_or(text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
