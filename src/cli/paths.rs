//! Repository paths: relative, with forward slashes, equal in every checkout.

use std::path::{Component, Path, PathBuf};

use super::Failure;
use crate::remote::Uri;

/// Returns the absolute path without `.` and `..`.
///
/// Symlinks are not followed, since a file of a repository may be a link to a file outside of the repository.
pub fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// Returns `path` relative to `folder`, if it is below that folder.
pub fn below(path: &Path, folder: &Path) -> Option<String> {
    let (path, folder) = (absolute(path), absolute(folder));
    // If `folder` is the root of the file system, the returned path would look relative to the current folder.
    folder.parent()?;
    let relative = path.strip_prefix(folder).ok()?;
    (relative != Path::new("")).then(|| slashes(relative))
}

/// Rejects a URI where the path of a local file is required.
pub fn local(path: &Path) -> Result<&Path, Failure> {
    let shown = match Uri::parse(&path.to_string_lossy()) {
        None => return Ok(path),
        Some(Ok(uri)) => uri.shown().to_string(),
        Some(Err(why)) => return Err(Failure::new(why)),
    };
    Err(Failure::new(format!("{shown}: URIs are not supported here: use a local file")))
}

/// Returns the path with forward slashes.
pub fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Returns the root of the Git repository that contains `folder`.
pub fn repository(folder: &Path) -> Option<PathBuf> {
    absolute(folder).ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_a_folder_above_them() {
        let below = |path: &str, folder: &str| below(Path::new(path), Path::new(folder));
        assert_eq!(below("/repo/a/./b/../c.onnx", "/repo"), Some("a/c.onnx".to_owned()));
        assert_eq!(below("/repo/a.onnx", "/repo/"), Some("a.onnx".to_owned()));
        assert_eq!(below("/repository/a.onnx", "/repo"), None);
        assert_eq!(below("/repo", "/repo"), None);
        let here = std::env::current_dir().expect("a current folder");
        assert_eq!(super::below(Path::new("a.onnx"), &here), Some("a.onnx".to_owned()));
    }
}
