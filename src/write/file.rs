//! Atomic file writes: a file keeps its old content until the new content is complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::platform::Temporary;

/// New content of a file: [`Pending::keep`] replaces the file; dropping the value discards the content.
#[derive(Debug)]
pub struct Pending {
    file: Temporary,
    target: PathBuf,
}

impl Pending {
    /// Writes the new content of `target` with `write`. If `target` is a link, its destination is replaced.
    ///
    /// The new file has the permissions of the old file, if there is one.
    pub fn write(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = Temporary::new(folder.unwrap_or(Path::new(".")))?;
        if let Ok(existing) = fs::metadata(&target) {
            file.as_file().set_permissions(existing.permissions())?;
        }
        let pending = Pending { file, target };
        let mut out = BufWriter::new(pending.file.as_file());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        Ok(pending)
    }

    /// Returns the path of the file that the content replaces.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Replaces the target by the new content, atomically.
    pub fn keep(self) -> io::Result<()> {
        self.file.keep(&self.target)
    }
}

/// Writes a file atomically; a pipe or device is written to directly.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match is_special(path) {
        true => fs::File::create(path).and_then(|mut out| write(&mut out)),
        false => Pending::write(path, write).and_then(Pending::keep),
    }
}

/// Returns true if `path` exists and is neither a regular file nor a directory.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(folder: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let file = |path: PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("text"))
        };
        entries.map(file).collect()
    }

    #[test]
    fn a_dropped_write_leaves_the_target_unchanged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("a.onnx");
        fs::write(&target, "old").expect("a file");
        let write = || Pending::write(&target, |out| out.write_all(b"new")).expect("written");
        drop(write());
        assert_eq!(content(folder.path()), [("a.onnx".to_owned(), "old".to_owned())]);
        write().keep().expect("kept");
        assert_eq!(content(folder.path()), [("a.onnx".to_owned(), "new".to_owned())]);
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let failed = Pending::write(&folder.path().join("a.onnx"), |_| Err(io::Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(content(folder.path()), []);
    }

    #[test]
    fn a_pending_file_has_no_name_where_files_need_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("a.onnx");
        let pending = Pending::write(&target, |out| out.write_all(b"new")).expect("written");
        if pending.file.is_nameless() {
            assert_eq!(content(folder.path()), []);
        }
        pending.keep().expect("kept");
        assert_eq!(content(folder.path()), [("a.onnx".to_owned(), "new".to_owned())]);
    }

    #[cfg(unix)]
    #[test]
    fn a_write_to_a_link_replaces_its_destination() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (target, link) = (folder.path().join("a.onnx"), folder.path().join("link"));
        fs::write(&target, "old").expect("a file");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        Pending::write(&link, |out| out.write_all(b"new")).expect("written").keep().expect("kept");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("text"), "new");
    }
}
