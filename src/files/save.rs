//! Saves a model with its external data, atomically.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::format::ModelFormat;
use crate::diag::{unreadable, unwritable};
use crate::graph::Model;
use crate::read::external::{DataFolders, Fault, locate};
use crate::write::external::{DEFAULT_THRESHOLD, externalize, locations};
use crate::write::file::{Pending, is_special, replace};

/// Options to save a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Format to use if the file extension does not determine one.
    pub form: ModelFormat,
    /// Directories of the existing external data. `None` is the directory of the saved model.
    ///
    /// Saving copies the data to the directory of the saved model, unless the data is already there.
    pub folders: Option<DataFolders>,
    /// Whether large tensors are always moved to an external file, `NAME.data`.
    ///
    /// If false, large tensors are moved only if the model exceeds the protobuf limit of 2 GiB.
    pub external: bool,
    /// Minimum size of a tensor that is moved, in bytes.
    pub threshold: usize,
}

impl Default for Saving {
    /// Returns options for the binary format, in one file if possible.
    fn default() -> Self {
        Saving { form: ModelFormat::Binary, folders: None, external: false, threshold: DEFAULT_THRESHOLD }
    }
}

/// Error of saving a model. An existing model file is unchanged.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// A file cannot be written.
    Unwritable {
        /// Path of the model or of external data.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// An existing file at the destination of external data cannot be read for comparison.
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The destination of external data exists with other content.
    Taken {
        /// Path of the existing file.
        path: PathBuf,
    },
    /// External data is missing or outside of the model's directory.
    Data(Fault),
    /// The model cannot be written in this format or to this target, for this reason.
    Format(String),
    /// The model exceeds the limit of protobuf even without its large tensors.
    TooLarge,
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Unwritable { path, error } => f.write_str(&unwritable(path, error)),
            SaveError::Unreadable { path, error } => f.write_str(&unreadable(path, error)),
            SaveError::Taken { path } => {
                let why = "exists already, and differs from the external data of the model";
                write!(f, "{}: {why}", path.display())
            }
            SaveError::Data(fault) => write!(f, "the external data of a tensor {fault}"),
            SaveError::Format(why) => f.write_str(why),
            SaveError::TooLarge => {
                f.write_str("the model exceeds the 2 GiB limit of protobuf, even without its weights")
            }
        }
    }
}

impl std::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SaveError::Unwritable { error, .. } | SaveError::Unreadable { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Saves `model` to `path` in the format of its extension, binary by default.
///
/// An existing file is replaced atomically after everything is written. The external data of the model must be in the
/// directory of `path`; use [`Saving`] if it is elsewhere.
///
/// # Errors
/// The model cannot be saved; an existing model file is unchanged.
pub fn save(model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError> {
    Saving::default().save(model, path)
}

impl Saving {
    /// Returns the format for a file at `target`.
    pub fn form_at(&self, target: &Path) -> ModelFormat {
        ModelFormat::of_path(target).unwrap_or(self.form)
    }

    /// Saves `model` to `target`.
    ///
    /// # Errors
    /// The model cannot be saved; an existing model file is unchanged.
    pub fn save(&self, model: &Model, target: impl AsRef<Path>) -> Result<(), SaveError> {
        let target = target.as_ref();
        let form = self.form_at(target);
        let mut pending = self.copies(model, target)?;
        let encode = |model: &Model| form.encode(model).map_err(SaveError::Format);
        if !self.external
            && let Some(pieces) = encode(model)?
        {
            return put(target, &pieces, pending);
        }
        let mut model = model.clone();
        pending.extend(self.externalize(&mut model, target)?);
        let pieces = encode(&model)?.ok_or(SaveError::TooLarge)?;
        put(target, &pieces, pending)
    }

    /// Copies the bytes of an unmodified model file to `target`, with its external data.
    ///
    /// Fields unknown to this version are preserved.
    ///
    /// # Errors
    /// The file cannot be copied; an existing model file is unchanged.
    pub fn save_as_is(&self, bytes: &Bytes, model: &Model, target: &Path) -> Result<(), SaveError> {
        put(target, std::slice::from_ref(bytes), self.copies(model, target)?)
    }

    /// Moves large tensors to a file beside `target`; returns `None` if there are none.
    fn externalize(&self, model: &mut Model, target: &Path) -> Result<Option<Pending>, SaveError> {
        let (path, name) = data_file(model, target);
        let mut bytes = 0;
        let write = |out: &mut dyn Write| {
            bytes = externalize(model, self.threshold, &name, out)?;
            Ok(())
        };
        let pending = Pending::write(&path, write).map_err(|error| SaveError::Unwritable { path, error })?;
        Ok((bytes > 0).then_some(pending))
    }

    /// Prepares copies of the model's external data in the directory of `target`.
    ///
    /// Files that already exist in this directory with the same content are not copied.
    fn copies(&self, model: &Model, target: &Path) -> Result<Vec<Pending>, SaveError> {
        let own = DataFolders::at(target.parent().unwrap_or(Path::new("")));
        let (folder, source) = (own.given(), self.folders.as_ref().unwrap_or(&own));
        let is_there = folder.canonicalize().ok() == source.given().canonicalize().ok();
        let mut copies = Vec::new();
        for location in locations(model) {
            let from = locate(source, &location).map_err(SaveError::Data)?;
            let to = folder.join(&*location);
            if is_there {
                continue;
            }
            if to.exists() {
                match equal(&from, &to) {
                    Ok(true) => {}
                    Ok(false) => return Err(SaveError::Taken { path: to }),
                    Err(error) => return Err(SaveError::Unreadable { path: to, error }),
                }
            } else {
                copies.push(copy(&from, &to).map_err(|error| SaveError::Unwritable { path: to, error })?);
            }
        }
        Ok(copies)
    }
}

/// Returns path and name of the data file, such as `model.onnx.data`.
///
/// If the model already refers to a file of this name, the name gets a number (`model.onnx.1.data`).
fn data_file(model: &Model, target: &Path) -> (PathBuf, String) {
    let taken = locations(model);
    let stem = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = (0u32..).map(|number| match number {
        0 => format!("{stem}.data"),
        number => format!("{stem}.{number}.data"),
    });
    let free = |name: &String| !taken.iter().any(|taken| **taken == **name);
    let name = names.into_iter().find(free).unwrap_or_default();
    (target.with_file_name(&name), name)
}

/// Writes the model, then replaces all target files: first the data, then the model.
fn put(target: &Path, pieces: &[Bytes], pending: Vec<Pending>) -> Result<(), SaveError> {
    let failed = |error| SaveError::Unwritable { path: target.to_owned(), error };
    let write = |out: &mut dyn Write| pieces.iter().try_for_each(|piece| out.write_all(piece));
    if is_special(target) {
        if pending.is_empty() {
            return replace(target, write).map_err(failed);
        }
        return Err(SaveError::Format("external data cannot be written beside a pipe or device".to_owned()));
    }
    let model = Pending::write(target, write).map_err(failed)?;
    for data in pending {
        let path = data.target().to_owned();
        data.keep().map_err(|error| SaveError::Unwritable { path, error })?;
    }
    model.keep().map_err(failed)
}

fn copy(from: &Path, to: &Path) -> io::Result<Pending> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut from = File::open(from)?;
    Pending::write(to, |out| io::copy(&mut from, out).map(drop))
}

/// Returns true if two files have the same content.
fn equal(one: &Path, other: &Path) -> io::Result<bool> {
    const CHUNK: u64 = 1 << 20;
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        (&one).take(CHUNK).read_to_end(&mut left)?;
        (&other).take(CHUNK).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
