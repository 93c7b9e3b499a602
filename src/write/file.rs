//! Atomic file writes: a file keeps its old content until the new content is complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// New content of a file: [`Pending::keep`] replaces the target; dropping it discards the content.
#[derive(Debug)]
pub struct Pending {
    file: Unkept,
    target: PathBuf,
}

/// Temporary file in the directory of its target.
#[derive(Debug)]
enum Unkept {
    /// A file without a name: the file system frees it even if the process is killed.
    #[cfg(target_os = "linux")]
    Nameless(fs::File),
    /// A file with a temporary name.
    Named(NamedTempFile),
}

impl Pending {
    /// Writes the new content of `target` with `write`. If `target` is a link, its destination is replaced.
    ///
    /// The new file has the permissions of the old one.
    pub fn write(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = Unkept::new(folder.unwrap_or(Path::new(".")))?;
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

    /// Returns the path that the file gets.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Replaces the target atomically.
    pub fn keep(self) -> io::Result<()> {
        match self.file {
            #[cfg(target_os = "linux")]
            Unkept::Nameless(file) => nameless::keep(&file, &self.target),
            Unkept::Named(file) => file.persist(&self.target).map(drop).map_err(|error| error.error),
        }
    }
}

impl Unkept {
    fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless::create(folder) {
            return Ok(Unkept::Nameless(file));
        }
        builder().tempfile_in(folder).map(Unkept::Named)
    }

    fn as_file(&self) -> &fs::File {
        match self {
            #[cfg(target_os = "linux")]
            Unkept::Nameless(file) => file,
            Unkept::Named(file) => file.as_file(),
        }
    }
}

/// Files without a name (`O_TMPFILE`), which most file systems on Linux support.
#[cfg(target_os = "linux")]
mod nameless {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    use super::{Path, fs, io};

    /// Creates a file.
    /// Returns `None` if that fails, for example because the file system does not support it.
    pub fn create(folder: &Path) -> Option<fs::File> {
        let mode = Mode::from_raw_mode(0o666);
        let file = open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()?;
        let file = fs::File::from(file);
        Path::new(&by_number(&file)).exists().then_some(file)
    }

    /// Links `file` to a temporary name and renames it to `target`.
    pub fn keep(file: &fs::File, target: &Path) -> io::Result<()> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let named = target.with_file_name(format!(".onnx-fix-{}-{name}", std::process::id()));
        fs::remove_file(&named).ok();
        linkat(CWD, by_number(file), CWD, &named, AtFlags::SYMLINK_FOLLOW)?;
        fs::rename(&named, target).inspect_err(|_| drop(fs::remove_file(&named)))
    }

    fn by_number(file: &fs::File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
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

#[cfg(unix)]
fn builder() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // Temporary files are private by default; these get the permissions of a new file (subject to the umask).
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pending_file_has_no_name_on_linux() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = folder.path().join("a.onnx");
        let pending = Pending::write(&target, |out| out.write_all(b"new")).expect("written");
        if matches!(pending.file, Unkept::Nameless(_)) {
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
