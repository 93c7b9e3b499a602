//! Writes a model, and the external data that belong to it: all of it, or nothing.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::format::ModelFormat;
use crate::diag::{unreadable, unwritable};
use crate::graph::Model;
use crate::read::external::{Fault, locate};
use crate::write::external::{DEFAULT_THRESHOLD, externalize, locations};
use crate::write::file::{Pending, is_special, replace};

/// How a model is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The form of a file whose name does not tell one.
    pub form: ModelFormat,
    /// Where the external data are that the model refers to: they are copied if it is written to another folder.
    /// `None`: where it is written to.
    pub folder: Option<PathBuf>,
    /// Whether large tensors go to a file of their own, `NAME.data`, even where the model would not be too large for
    /// protobuf, whose limit is 2 GiB.
    pub external: bool,
    /// How many bytes make a tensor large.
    pub threshold: usize,
}

impl Default for Saving {
    /// Binary, in one file if possible.
    fn default() -> Self {
        Saving { form: ModelFormat::Binary, folder: None, external: false, threshold: DEFAULT_THRESHOLD }
    }
}

/// Why a model was not written. What stood at its place stands there still.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// The operating system refuses to write.
    Unwritable {
        /// The file: the model, or one of its external data.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file beside the target, which might be the external data that the model needs, cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another file stands where external data would have to be copied to.
    Taken {
        /// The file that is there.
        path: PathBuf,
    },
    /// External data that the model refers to are missing, or out of its folder.
    Data(Fault),
    /// The form cannot hold the model, for this reason.
    Format(String),
    /// Too large for protobuf, large tensors left out.
    TooLarge,
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Unwritable { path, error } => f.write_str(&unwritable(path, error)),
            SaveError::Unreadable { path, error } => f.write_str(&unreadable(path, error)),
            SaveError::Taken { path } => {
                let why = "is there already, and is not the external data that the model needs";
                write!(f, "{}: {why}", path.display())
            }
            SaveError::Data(fault) => write!(f, "the data of a tensor {fault}"),
            SaveError::Format(why) => f.write_str(why),
            SaveError::TooLarge => {
                f.write_str("the model is too large for protobuf, even without its weights")
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

/// Writes `model` to `path`, in the form that the ending of its name says, or else binary. A file that is there is
/// replaced in one step, once everything is written.
///
/// The external data of the model are taken to be in the folder of `path`; for those of a model from elsewhere, see
/// [`Saving`].
///
/// # Errors
/// Nothing was written, for this reason.
pub fn save(model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError> {
    Saving::default().save(model, path)
}

impl Saving {
    /// The form of the file at `target`.
    pub fn form_at(&self, target: &Path) -> ModelFormat {
        ModelFormat::of_path(target).unwrap_or(self.form)
    }

    /// Writes `model` to `target`.
    ///
    /// # Errors
    /// Nothing was written, for this reason.
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

    /// Writes a file as it is to `target`, with the external data of the model that is in it: to the byte, with
    /// whatever this version does not know of.
    ///
    /// # Errors
    /// Nothing was written, for this reason.
    pub fn save_as_is(&self, bytes: &Bytes, model: &Model, target: &Path) -> Result<(), SaveError> {
        put(target, std::slice::from_ref(bytes), self.copies(model, target)?)
    }

    /// Moves large tensors to a file beside `target`; `None` where there are none.
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

    /// The files with external data that `target` needs beside it, where they are not there.
    fn copies(&self, model: &Model, target: &Path) -> Result<Vec<Pending>, SaveError> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let source = self.folder.as_deref().unwrap_or(folder);
        let is_there = folder.canonicalize().ok() == source.canonicalize().ok();
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

/// `model.onnx.data`, or with a number where the model has data of that name already.
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

/// Writes the model itself, then lets everything take its place: the data first.
fn put(target: &Path, pieces: &[Bytes], pending: Vec<Pending>) -> Result<(), SaveError> {
    let failed = |error| SaveError::Unwritable { path: target.to_owned(), error };
    let write = |out: &mut dyn Write| pieces.iter().try_for_each(|piece| out.write_all(piece));
    if is_special(target) {
        return replace(target, write).map_err(failed);
    }
    let model = Pending::write(target, write).map_err(failed)?;
    for data in pending {
        data.keep().map_err(failed)?;
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

/// Whether two files have the same content.
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
