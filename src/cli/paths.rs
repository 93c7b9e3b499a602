//! Paths as a repository has them: relative, with forward slashes, the same in every checkout.

use std::path::{Component, Path, PathBuf};

/// The path from the root of the file system, without `.` and `..`. Links are not followed: what stands for
/// a file in a repository may be a link out of it.
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

/// `path` as seen from `folder`, which it lies below.
pub fn below(path: &Path, folder: &Path) -> Option<String> {
    let (path, folder) = (absolute(path), absolute(folder));
    // From the root of the file system, what is relative looks like something else.
    folder.parent()?;
    let relative = path.strip_prefix(folder).ok()?;
    (relative != Path::new("")).then(|| slashes(relative))
}

/// With forward slashes.
pub fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// The root of the Git repository that `folder` lies in.
pub fn repository(folder: &Path) -> Option<PathBuf> {
    absolute(folder).ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_folders_above() {
        let below = |path: &str, folder: &str| below(Path::new(path), Path::new(folder));
        assert_eq!(below("/repo/a/./b/../c.onnx", "/repo"), Some("a/c.onnx".to_owned()));
        assert_eq!(below("/repo/a.onnx", "/repo/"), Some("a.onnx".to_owned()));
        assert_eq!(below("/repository/a.onnx", "/repo"), None);
        assert_eq!(below("/repo", "/repo"), None);
        let here = std::env::current_dir().expect("a current folder");
        assert_eq!(super::below(Path::new("a.onnx"), &here), Some("a.onnx".to_owned()));
    }
}
