//! Messages for operating system errors.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Describes an I/O error in words for users.
pub fn reason(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::NotFound => "no such file or directory",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::NotADirectory => "a parent of the path is not a directory",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the disk quota is exceeded",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::InvalidData => "it is not valid UTF-8",
        _ => return without_number(&error.to_string()),
    };
    known.to_owned()
}

/// Reports that the file at `path` cannot be read, and why.
pub fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("{}: cannot be read: {}", path.display(), reason(error))
}

/// Reports that the file at `path` cannot be written, and why.
pub fn unwritable(path: &Path, error: &io::Error) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let why = match folder {
        Some(folder) => format!("no such directory `{}`", folder.display()),
        None if path.is_dir() => "it is a directory".to_owned(),
        None => reason(error),
    };
    format!("{}: cannot be written: {why}", path.display())
}

/// Removes the trailing `(os error 5)` and the name of a temporary file; starts in lower case.
fn without_number(text: &str) -> String {
    let text = text.split(" (os error ").next().unwrap_or(text);
    let text = text.split(" at path ").next().unwrap_or(text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
