//! External data: tensor elements in other files, which must be in a directory of the model.

use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;
use indexmap::IndexMap;

use super::file;
pub use folders::DataFolders;

mod folders;
use crate::diag::counted;
use crate::graph::{Metadata, Tensor, TensorData};

/// Fault in the external data reference of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reference has no `location`.
    NoLocation,
    /// The file does not exist, is not a regular file, or cannot be read.
    NoFile {
        /// Value of the entry `location` of the tensor.
        location: String,
        /// Relative clause for messages, without "which", such as "does not exist".
        how: String,
    },
    /// The location is outside of the directory of the model.
    Escapes {
        /// Value of the entry `location` of the tensor.
        location: String,
        /// Relative clause for messages, without "which", such as "leads out of the directory of the model".
        how: &'static str,
    },
    /// `offset` or `length` is not a non-negative integer.
    BadNumber {
        /// `offset` or `length`.
        key: &'static str,
        /// Text of the entry.
        text: String,
    },
    /// The range is shorter than the elements.
    TooShort {
        /// Length of the range, in bytes.
        length: u64,
        /// Size of the elements, in bytes.
        needed: u64,
    },
    /// The range ends past the end of the file.
    PastEnd {
        /// End of the range, in bytes from the start of the file (exclusive).
        end: u64,
        /// Size of the file, in bytes.
        size: u64,
        /// Value of the entry `location` of the tensor.
        location: String,
    },
}

impl fmt::Display for Fault {
    /// Writes a predicate that follows the name of the tensor, such as "ends at byte 24 of …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoLocation => f.write_str("is external but has no `location`"),
            Fault::NoFile { location, how } => write!(f, "is in `{location}`, which {how}"),
            Fault::Escapes { location, how } => write!(f, "is in `{location}`, which {how}"),
            Fault::BadNumber { key, text } => {
                write!(f, "has `{text}` as the `{key}` of its data, which is not a number of bytes")
            }
            Fault::TooShort { length, needed } => {
                let needed = counted(*needed as usize, "byte");
                write!(f, "needs {needed}, but its external data has {length}")
            }
            Fault::PastEnd { end, size, location } => {
                let size = counted(*size as usize, "byte");
                write!(f, "ends at byte {end} of `{location}`, which has {size}")
            }
        }
    }
}

/// External data files of one model. Each file is memory-mapped once, on first use.
#[derive(Debug)]
pub struct ExternalFiles {
    folders: DataFolders,
    files: IndexMap<String, Result<Bytes, Fault>>,
}

impl ExternalFiles {
    /// Creates an empty cache for the data of a model in `folders`.
    pub fn new(folders: &DataFolders) -> Self {
        ExternalFiles { folders: folders.clone(), files: IndexMap::new() }
    }

    /// Returns the packed elements of an external tensor, in the layout of `raw_data`.
    ///
    /// Returns `None` if the tensor is not external.
    pub fn bytes(&mut self, tensor: &Tensor) -> Option<Result<Bytes, Fault>> {
        match &tensor.data {
            TensorData::External(entries) => Some(self.range(entries, tensor)),
            _ => None,
        }
    }

    fn range(&mut self, entries: &Metadata, tensor: &Tensor) -> Result<Bytes, Fault> {
        let location = location(entries)?;
        let (offset, length) = (number(entries, "offset")?.unwrap_or(0), number(entries, "length")?);
        let needed = tensor.byte_len().and_then(|bytes| u64::try_from(bytes).ok());
        if let (Some(length), Some(needed)) = (length, needed)
            && length < needed
        {
            return Err(Fault::TooShort { length, needed });
        }
        let file = self.file(location)?;
        let size = file.len() as u64;
        let end = match length.or(needed) {
            Some(length) => offset.saturating_add(length),
            None => size.max(offset),
        };
        if end > size {
            return Err(Fault::PastEnd { end, size, location: location.to_owned() });
        }
        // `offset` and `end` are at most the file size, which fits in `usize`.
        Ok(file.slice(offset as usize..end as usize))
    }

    fn file(&mut self, location: &str) -> Result<Bytes, Fault> {
        if let Some(known) = self.files.get(location) {
            return known.clone();
        }
        let unreadable = |error| no_file(location, format!("cannot be read: {error}"));
        let file = locate(&self.folders, location).and_then(|path| file::read(&path).map_err(unreadable));
        self.files.insert(location.to_owned(), file.clone());
        file
    }
}

/// Returns the `location` among the entries of an external tensor.
pub fn location(entries: &Metadata) -> Result<&str, Fault> {
    entry(entries, "location").filter(|location| !location.is_empty()).ok_or(Fault::NoLocation)
}

/// Returns the path of the regular file at `location` in the `folders`, with symbolic links resolved.
///
/// As ONNX Runtime requires, a link must not lead out of the `folders`.
pub fn locate(folders: &DataFolders, location: &str) -> Result<PathBuf, Fault> {
    let escapes = |how| Fault::Escapes { location: location.to_owned(), how };
    if let Some(how) = leaves_folder(location) {
        return Err(escapes(how));
    }
    let allowed = folders.resolved();
    let mut found = allowed.iter().filter_map(|folder| folder.join(location).canonicalize().ok());
    match found.next() {
        Some(found) if !allowed.iter().any(|folder| found.starts_with(folder)) => {
            Err(escapes("leads through a link out of the directory of the model"))
        }
        Some(found) if found.is_file() => Ok(found),
        Some(_) => Err(no_file(location, "is not a regular file")),
        None => Err(no_file(location, "does not exist")),
    }
}

fn no_file(location: &str, how: impl Into<String>) -> Fault {
    Fault::NoFile { location: location.to_owned(), how: how.into() }
}

fn entry<'a>(entries: &'a Metadata, key: &str) -> Option<&'a str> {
    entries.iter().find(|(name, _)| &**name == key).map(|(_, value)| &**value)
}

fn number(entries: &Metadata, key: &'static str) -> Result<Option<u64>, Fault> {
    let Some(text) = entry(entries, key) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| Fault::BadNumber { key, text: text.to_owned() })
}

/// Returns the reason why a location is outside of the model's directory, judging by its text.
///
/// Drive letters and backslashes count on every platform, not only on Windows.
pub fn leaves_folder(location: &str) -> Option<&'static str> {
    let is_drive = location.as_bytes().get(1) == Some(&b':');
    if location.starts_with(['/', '\\']) || is_drive {
        Some("is an absolute path")
    } else if location.split(['/', '\\']).any(|part| part == "..") {
        Some("leads out of the directory of the model")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::graph::ElemType;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("w.bin"), (0..20).collect::<Vec<u8>>()).expect("a file");
        folder
    }

    /// Reads an external tensor of four floats with these entries.
    fn bytes(folder: &Path, entries: &[(&str, &str)]) -> Result<Bytes, Fault> {
        let entries = entries.iter().map(|&(key, value)| (Arc::from(key), Arc::from(value))).collect();
        let tensor = Tensor::new(ElemType::Float, vec![4], TensorData::External(entries));
        ExternalFiles::new(&DataFolders::at(folder)).bytes(&tensor).expect("it is external")
    }

    #[test]
    fn invalid_references_are_faults() {
        let folder = folder();
        let at = |offset| bytes(folder.path(), &[("location", "w.bin"), ("offset", offset)]);
        assert_eq!(at("4").as_deref(), Ok(&(4..20).collect::<Vec<u8>>()[..]));
        assert_eq!(at("8"), Err(Fault::PastEnd { end: 24, size: 20, location: "w.bin".into() }));
        assert_eq!(at("-1"), Err(Fault::BadNumber { key: "offset", text: "-1".into() }));
        assert!(matches!(at("18446744073709551615"), Err(Fault::PastEnd { .. })));
        let short = bytes(folder.path(), &[("location", "w.bin"), ("length", "8")]);
        assert_eq!(short, Err(Fault::TooShort { length: 8, needed: 16 }));
        assert_eq!(bytes(folder.path(), &[]), Err(Fault::NoLocation));
        let missing = bytes(folder.path(), &[("location", "v.bin")]);
        assert_eq!(missing, Err(no_file("v.bin", "does not exist")));
        std::fs::create_dir(folder.path().join("d.bin")).expect("a folder");
        let folder = bytes(folder.path(), &[("location", "d.bin")]);
        assert_eq!(folder, Err(no_file("d.bin", "is not a regular file")));
    }

    #[test]
    fn a_location_outside_of_the_directory_is_a_fault() {
        let folder = folder();
        let outside =
            ["/etc/passwd", r"\\server\x", "C:\\x", "c:x", "../w.bin", "a/../../w.bin", r"a\..\..\w"];
        for location in outside {
            let fault = bytes(folder.path(), &[("location", location)]);
            assert!(matches!(fault, Err(Fault::Escapes { .. })), "{location}: {fault:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_directory_is_a_fault() {
        let (outside, inside) = (folder(), folder());
        let link = |to: &Path, name| std::os::unix::fs::symlink(to, inside.path().join(name));
        link(&outside.path().join("w.bin"), "out.bin").expect("a link");
        link(&inside.path().join("w.bin"), "in.bin").expect("a link");
        let fault = bytes(inside.path(), &[("location", "out.bin")]);
        assert!(matches!(fault, Err(Fault::Escapes { .. })), "{fault:?}");
        assert!(bytes(inside.path(), &[("location", "in.bin")]).is_ok());
    }

    /// The layout of a Hugging Face cache: the model and its data are links into one directory.
    #[cfg(unix)]
    #[test]
    fn data_may_be_beside_the_file_that_the_model_links_to() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let (blobs, snapshot) = (cache.path().join("blobs"), cache.path().join("snapshots/main"));
        std::fs::create_dir_all(&snapshot).expect("a folder");
        std::fs::create_dir(&blobs).expect("a folder");
        for (name, blob) in [("model.onnx", "1a"), ("w.bin", "2b")] {
            std::fs::write(blobs.join(blob), [0; 16]).expect("a file");
            std::os::unix::fs::symlink(format!("../../blobs/{blob}"), snapshot.join(name)).expect("a link");
        }
        std::os::unix::fs::symlink("/etc/passwd", snapshot.join("out.bin")).expect("a link");
        let folders = DataFolders::of_model(&snapshot.join("model.onnx"));
        assert_eq!(locate(&folders, "w.bin").ok(), blobs.join("2b").canonicalize().ok());
        assert!(matches!(locate(&folders, "out.bin"), Err(Fault::Escapes { .. })));
        assert!(matches!(locate(&DataFolders::at(&snapshot), "w.bin"), Err(Fault::Escapes { .. })));
    }
}
