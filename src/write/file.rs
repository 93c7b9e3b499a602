//! Files that are there as a whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file written beside its target, which it replaces when it is kept; else it is removed.
#[derive(Debug)]
pub struct Pending {
    file: NamedTempFile,
    target: PathBuf,
}

impl Pending {
    /// What `write` writes, to become the file at `target`. A link is followed: what it leads to is
    /// replaced, with its permissions.
    pub fn write(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = builder().tempfile_in(folder.unwrap_or(Path::new(".")))?;
        if let Ok(existing) = fs::metadata(&target) {
            file.as_file().set_permissions(existing.permissions())?;
        }
        let mut pending = Pending { file, target };
        let mut out = BufWriter::new(pending.file.as_file_mut());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        Ok(pending)
    }

    /// Puts the file in the place of its target, in one step.
    pub fn keep(self) -> io::Result<()> {
        self.file.persist(&self.target).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(unix)]
fn builder() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // As any new file: the user's mask takes away from it. Temporary files are private otherwise.
    builder.prefix(".onnx-fix-").permissions(fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".onnx-fix-");
    builder
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
    fn the_target_is_replaced_only_when_kept() {
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
    fn what_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let failed = Pending::write(&folder.path().join("a.onnx"), |_| Err(io::Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(content(folder.path()), []);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (target, link) = (folder.path().join("a.onnx"), folder.path().join("link"));
        fs::write(&target, "old").expect("a file");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        Pending::write(&link, |out| out.write_all(b"new")).expect("written").keep().expect("kept");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("text"), "new");
    }
}
