//! A URI whose file is opened on first use.

use std::sync::{Arc, OnceLock};

use super::{Failure, Limits, RemoteFile, Uri, open};

/// A URI, with its file once it is opened.
#[derive(Clone, Debug)]
pub struct Source {
    uri: Uri,
    limits: Limits,
    /// ETag of a known version of the file: if the file still has this ETag, the file is not read.
    known: Option<Arc<str>>,
    file: Arc<OnceLock<Result<Arc<RemoteFile>, Failure>>>,
}

impl Source {
    /// Creates a source whose file is not open.
    pub fn new(uri: Uri, limits: Limits) -> Self {
        Source { uri, limits, known: None, file: Arc::default() }
    }

    /// Skips a file that still has this ETag: opening the file then fails with [`Failure::Known`].
    pub fn unless(self, etag: &str) -> Self {
        Source { known: Some(Arc::from(etag)), ..self }
    }

    /// Returns the URI.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Returns the file, and opens it on the first call.
    ///
    /// # Errors
    /// The file does not exist or cannot be accessed, or it still has the known ETag.
    pub fn file(&self) -> Result<&Arc<RemoteFile>, Failure> {
        let opened =
            self.file.get_or_init(|| open(&self.uri, self.limits, self.known.as_deref()).map(Arc::new));
        opened.as_ref().map_err(Failure::clone)
    }
}
