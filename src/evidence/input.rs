//! Inputs of the linter.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::diag::reason;
use crate::read::file;
use crate::read::sniff::{Kind, sniff};
use crate::remote::Source;

/// File, standard input, or data in memory.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name in findings; for a file, the path as given, with forward slashes and without a leading `./`.
    pub name: Arc<str>,
    /// Path; `None` if the input is not a file.
    pub path: Option<PathBuf>,
    /// Whether the file was named explicitly, not found in a directory; named files must be lintable.
    pub named: bool,
    /// Kind of file, if it is not to be determined from the content.
    pub kind: Option<Kind>,
    /// Content, if it is in memory and need not be read.
    pub content: Option<Bytes>,
    /// Remote file, if the input is at a URI.
    pub remote: Option<Source>,
}

impl Input {
    /// Creates an input for the file at `path`.
    pub fn new(path: &Path, named: bool) -> Self {
        let name = path.to_string_lossy().replace('\\', "/");
        let name = name.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(&name);
        Input {
            name: Arc::from(name),
            path: Some(path.to_owned()),
            named,
            kind: None,
            content: None,
            remote: None,
        }
    }

    /// Creates an input for the file at a URI.
    pub fn at(remote: Source) -> Self {
        let name = remote.uri().shown().clone();
        Input { name, path: None, named: true, kind: None, content: None, remote: Some(remote) }
    }

    /// Returns the directory of the file, or the current directory if the input is not a file.
    pub fn folder(&self) -> &Path {
        match self.path.as_deref().and_then(Path::parent) {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// Returns the given kind, or else the kind by name and content; `None` if the file cannot be read.
    pub fn sniff(&self) -> Option<Kind> {
        let start = || match &self.remote {
            Some(remote) => Some(remote.file().ok()?.start()),
            None => self.read().ok(),
        };
        self.kind.or_else(|| Some(sniff(&self.name, &start()?)))
    }

    /// Reads the content of the input.
    ///
    /// # Errors
    /// The file cannot be read; the message is meant for users.
    pub fn read(&self) -> io::Result<Bytes> {
        if let Some(remote) = &self.remote {
            return remote.file().and_then(|file| file.whole()).map_err(io::Error::other);
        }
        let read = match (&self.content, &self.path) {
            (Some(content), _) => Ok(content.clone()),
            (None, Some(path)) => file::read(path),
            (None, None) => file::stream(io::stdin().lock()),
        };
        read.map_err(|error| io::Error::new(error.kind(), reason(&error)))
    }
}
