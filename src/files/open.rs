//! Opens a model, and says all that is wrong with its file.

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
use crate::read::external::{self, ExternalFiles, Fault};
use crate::read::sniff::sniff;
use crate::read::{any, file};
use crate::write::external::locations;

/// A model, with what its file says besides.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The path as it was given; findings have it as their file.
    pub name: Arc<str>,
    /// What is in the file.
    pub model: Model,
    /// What its reader has to say: none of it at level error.
    pub findings: Vec<Finding>,
    /// The form it is in.
    pub form: ModelFormat,
    /// Where its external data are.
    pub folder: PathBuf,
    /// The file as it is: mapped, not read.
    pub bytes: Bytes,
}

/// Why there is no model to work with.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system refuses.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// This is no model, or parts of it are missing or out of reach.
    Faulty {
        /// All that is wrong, each with the place in the file where there is one; at least one is at level error.
        findings: Vec<Finding>,
    },
}

impl fmt::Display for OpenError {
    /// In one line; of several findings, the first that is an error.
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

/// Opens the model at `path`, in whichever [`ModelFormat`] it is. Its weights are not read.
///
/// # Errors
/// The file cannot be read; it holds no model, or one with faults that its reader would have to leave out;
/// external data are missing, or lie out of the folder of the model. To see what can be read of a faulty model, use
/// [`crate::read::any::model`].
pub fn open(path: impl AsRef<Path>) -> Result<ModelFile, OpenError> {
    let path = path.as_ref();
    let bytes = file::read(path).map_err(|error| OpenError::Unreadable { path: path.to_owned(), error })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ModelFile::read(&path.to_string_lossy(), bytes, folder).map_err(|findings| OpenError::Faulty { findings })
}

impl ModelFile {
    /// As [`open`], from memory: `folder` is where the external data of the model are.
    ///
    /// # Errors
    /// Why there is no model to work with, as in [`OpenError::Faulty`].
    pub fn read(name: &str, bytes: Bytes, folder: &Path) -> Result<ModelFile, Vec<Finding>> {
        let kind = sniff(name, &bytes);
        let (model, mut findings) = any::model(kind, bytes.clone());
        findings.extend(model.iter().flat_map(|model| out_of_reach(model, folder)));
        let name: Arc<str> = Arc::from(name);
        findings.iter_mut().for_each(|finding| finding.file = name.clone());
        let usable = findings.iter().all(|finding| finding.level < Level::Error);
        match model.filter(|_| usable) {
            Some(model) => {
                let (form, folder) = (ModelFormat::of_kind(kind), folder.to_owned());
                Ok(ModelFile { name, model, findings, form, folder, bytes })
            }
            None => Err(findings),
        }
    }

    /// Has all elements of its tensors at hand, mapped from where its external data are; whether any were there. What
    /// cannot be read stays where it is.
    pub fn bring_data(&mut self) -> bool {
        let mut files = ExternalFiles::new(&self.folder);
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

    /// How what becomes of this model is written: in its form, with its external data.
    pub fn saving(&self) -> Saving {
        Saving { form: self.form, folder: Some(self.folder.clone()), ..Saving::default() }
    }
}

/// External data that the model has no business with, or that are not here; nothing is read or copied then.
fn out_of_reach(model: &Model, folder: &Path) -> Vec<Finding> {
    let fault = |location: Arc<str>| match external::locate(folder, &location) {
        Err(fault @ Fault::Escapes { .. }) => {
            let message = format!("the data of a tensor {fault}");
            let finding = rule_ids::EXTERNAL_DATA_ESCAPES_FOLDER.finding(message, Place::File);
            Some(finding.help("name the file by a path below the folder of the model"))
        }
        Err(fault) => {
            let message = format!("the data of a tensor {fault}");
            let finding = rule_ids::EXTERNAL_DATA_MISSING.at(Level::Error).finding(message, Place::File);
            Some(finding.help("put the file beside the model; it belongs to it"))
        }
        Ok(_) => None,
    };
    locations(model).into_iter().filter_map(fault).collect()
}
