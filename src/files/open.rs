//! Opens a model file, and reports the parts of the file that cannot be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::format::ModelFormat;
use super::save::Saving;
use crate::diag::rule_ids;
use crate::diag::{Finding, Level, Place, unreadable};
use crate::graph::{Model, TensorData};
use crate::read::external::{self, DataFolders, ExternalFiles, Fault};
use crate::read::sniff::sniff;
use crate::read::{any, file};
use crate::write::external::locations;

/// Model with the properties of its file.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// Path as passed by the caller; findings have it as their file.
    pub name: Arc<str>,
    /// Model that was read from the file.
    pub model: Model,
    /// Findings of the reader, all below level error.
    pub findings: Vec<Finding>,
    /// Format of the file.
    pub form: ModelFormat,
    /// Directories of the external data.
    pub folders: DataFolders,
    /// Bytes of the file, which [`open`] maps into memory.
    pub bytes: Bytes,
}

/// Error of opening a model.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The file is not a valid model, or external data is missing or outside of the model's directory.
    Faulty {
        /// All faults, with their position in the file if known; at least one is at level error.
        findings: Vec<Finding>,
    },
}

impl fmt::Display for OpenError {
    /// Writes one line: the reason, or the first finding at level error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Unreadable { path, error } => f.write_str(&unreadable(path, error)),
            OpenError::Faulty { findings } => {
                let worst = findings.iter().find(|finding| finding.level == Level::Error);
                let Some(Finding { file, place, message, .. }) = worst else { return Ok(()) };
                match place {
                    Place::Text(text) => write!(f, "{file}:{}:{}: {message}", text.line, text.column),
                    _ => write!(f, "{file}: {message}"),
                }
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Unreadable { error, .. } => Some(error),
            OpenError::Faulty { .. } => None,
        }
    }
}

/// Opens the model at `path`, in any [`ModelFormat`]. Weights of a binary file are mapped, not read.
///
/// # Errors
/// - The file cannot be read.
/// - The file is not a model, or the model has parts that cannot be parsed. [`crate::read::any::model`] returns the
///   other parts.
/// - External data is missing or outside of the model's directory.
pub fn open(path: impl AsRef<Path>) -> Result<ModelFile, OpenError> {
    let path = path.as_ref();
    let bytes = file::read(path).map_err(|error| OpenError::Unreadable { path: path.to_owned(), error })?;
    ModelFile::read(&path.to_string_lossy(), bytes, &DataFolders::of_model(path))
        .map_err(|findings| OpenError::Faulty { findings })
}

impl ModelFile {
    /// Like [`open`], but from memory; `folders` are searched for external data.
    ///
    /// # Errors
    /// All faults, as in [`OpenError::Faulty`].
    pub fn read(name: &str, bytes: Bytes, folders: &DataFolders) -> Result<ModelFile, Vec<Finding>> {
        let kind = sniff(name, &bytes);
        let (model, mut findings) = any::model(kind, bytes.clone());
        findings.extend(model.iter().flat_map(|model| out_of_reach(model, folders)));
        let name: Arc<str> = Arc::from(name);
        findings.iter_mut().for_each(|finding| finding.file = name.clone());
        let usable = findings.iter().all(|finding| finding.level < Level::Error);
        match model.filter(|_| usable) {
            Some(model) => {
                let (form, folders) = (ModelFormat::of_kind(kind), folders.clone());
                Ok(ModelFile { name, model, findings, form, folders, bytes })
            }
            None => Err(findings),
        }
    }

    /// Maps external tensors into the model; returns true if the model had any.
    ///
    /// Unreadable tensors remain external.
    pub fn bring_data(&mut self) -> bool {
        let mut files = ExternalFiles::new(&self.folders);
        let mut is_external = false;
        for (_, tensor) in self.model.tensors.iter_mut().filter(|(_, tensor)| tensor.is_external()) {
            is_external = true;
            if let (Some(Ok(bytes)), Some(len)) = (files.bytes(tensor), tensor.byte_len())
                && len <= bytes.len()
            {
                (tensor.data, tensor.location) = (TensorData::Raw(bytes.slice(..len)), None);
            }
        }
        is_external
    }

    /// Returns options to save a modified copy: by default in the same format, with the external data.
    pub fn saving(&self) -> Saving {
        Saving { form: self.form, folders: Some(self.folders.clone()), ..Saving::default() }
    }
}

/// Reports external data that is missing or outside of the model's directory.
fn out_of_reach(model: &Model, folders: &DataFolders) -> Vec<Finding> {
    let fault = |location: Arc<str>| match external::locate(folders, &location) {
        Err(fault @ Fault::Escapes { .. }) => {
            let message = format!("the external data of a tensor {fault}");
            let finding = rule_ids::EXTERNAL_DATA_ESCAPES_FOLDER.finding(message, Place::File);
            Some(finding.help("use a path within the directory of the model"))
        }
        Err(fault) => {
            let message = format!("the external data of a tensor {fault}");
            let finding = rule_ids::EXTERNAL_DATA_MISSING.at(Level::Error).finding(message, Place::File);
            Some(finding.help("put the file in the directory of the model"))
        }
        Ok(_) => None,
    };
    locations(model).into_iter().filter_map(fault).collect()
}
