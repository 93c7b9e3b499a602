//! Code that differs between operating systems: temporary files.
//!
//! A test checks that no other file has platform-dependent code, except in tests.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// Temporary file in the directory of its target. Dropping the value deletes the file.
#[derive(Debug)]
pub enum Temporary {
    /// A file without a name: the file system frees it even if the process is killed.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// A file with a temporary name.
    Named(NamedTempFile),
}

impl Temporary {
    /// Creates an empty file.
    pub fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless::create(folder) {
            return Ok(Temporary::Nameless(file));
        }
        builder().tempfile_in(folder).map(Temporary::Named)
    }

    /// Returns the open file.
    pub fn as_file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Nameless(file) => file,
            Temporary::Named(file) => file.as_file(),
        }
    }

    /// Replaces `target` by the file, atomically.
    pub fn keep(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Nameless(file) => nameless::keep(&file, target),
            Temporary::Named(file) => file.persist(target).map(drop).map_err(|error| error.error),
        }
    }

    /// Returns true if the file has no name yet.
    #[cfg(test)]
    pub fn is_nameless(&self) -> bool {
        !matches!(self, Temporary::Named(_))
    }
}

/// Files without a name (`O_TMPFILE`), which most file systems on Linux support.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// Creates a file.
    /// Returns `None` on failure, for example because the file system does not support files without a name.
    pub fn create(folder: &Path) -> Option<File> {
        let mode = Mode::from_raw_mode(0o666);
        let file = open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()?;
        let file = File::from(file);
        Path::new(&by_number(&file)).exists().then_some(file)
    }

    /// Links `file` to a temporary name and renames it to `target`.
    pub fn keep(file: &File, target: &Path) -> io::Result<()> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let named = target.with_file_name(format!(".onnx-fix-{}-{name}", std::process::id()));
        fs::remove_file(&named).ok();
        linkat(CWD, by_number(file), CWD, &named, AtFlags::SYMLINK_FOLLOW)?;
        fs::rename(&named, target).inspect_err(|_| drop(fs::remove_file(&named)))
    }

    fn by_number(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }
}

/// Returns a builder of files with the permissions of a new file, subject to the umask.
fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".onnx-fix-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // By default, the builder makes temporary files readable only by their owner.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}
