//! Something to lint.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::diag::reason;
use crate::read::file;
use crate::read::sniff::Kind;

/// A file, standard input, or what a program holds in memory.
#[derive(Clone, Debug)]
pub struct Input {
    /// What findings call it: the path as it was given, with forward slashes.
    pub name: Arc<str>,
    /// `None` for what is no file.
    pub path: Option<PathBuf>,
    /// Whether it was named, rather than found in a folder: what was named must be evidence.
    pub named: bool,
    /// What it is, where its content has no say in that.
    pub kind: Option<Kind>,
    /// What is in it, where somebody holds that in memory: it is not read then.
    pub content: Option<Bytes>,
}

impl Input {
    /// The file at `path`.
    pub fn new(path: &Path, named: bool) -> Self {
        let name = path.to_string_lossy().replace('\\', "/");
        let name = name.strip_prefix("./").filter(|rest| !rest.is_empty()).unwrap_or(&name);
        Input { name: Arc::from(name), path: Some(path.to_owned()), named, kind: None, content: None }
    }

    /// The folder it lies in: the current one for what is no file.
    pub fn folder(&self) -> &Path {
        match self.path.as_deref().and_then(Path::parent) {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// Its content.
    ///
    /// # Errors
    /// What the operating system refuses, in words for people.
    pub fn read(&self) -> io::Result<Bytes> {
        let read = match (&self.content, &self.path) {
            (Some(content), _) => Ok(content.clone()),
            (None, Some(path)) => file::read(path),
            (None, None) => file::stream(io::stdin().lock()),
        };
        read.map_err(|error| io::Error::new(error.kind(), reason(&error)))
    }
}
