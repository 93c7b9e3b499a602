//! The directories that may contain the external data of a model.

use std::path::{Path, PathBuf};

/// The directory of a model, and the directory of the file that the path of the model links to.
///
/// The two directories differ if the path is a symbolic link, as in the cache of Hugging Face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolders {
    /// Directory of the path as given.
    given: PathBuf,
    /// Directory of the file that the path links to, if the path is a symbolic link.
    linked: Option<PathBuf>,
}

impl DataFolders {
    /// Returns the directories for the model at `path`.
    pub fn of_model(path: &Path) -> Self {
        let folders = DataFolders::at(path.parent().unwrap_or(Path::new("")));
        let target = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
        DataFolders { linked: target.and_then(|target| target.parent().map(Path::to_owned)), ..folders }
    }

    /// Returns the directory `folder`, for a model that is not a link.
    pub fn at(folder: &Path) -> Self {
        let given = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        DataFolders { given: given.to_owned(), linked: None }
    }

    /// Returns the directory of the path as given.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// Returns the canonical paths of the existing directories: first `given`, then `linked`.
    pub(super) fn resolved(&self) -> Vec<PathBuf> {
        [Some(&self.given), self.linked.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|folder| folder.canonicalize().ok())
            .collect()
    }
}
