//! Input files of `onnx-fix`: those at URIs are downloaded, since a fix reads all weights.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::Failure;
use crate::read::external::leaves_folder;
use crate::read::sniff::{Kind, sniff};
use crate::read::{any, file};
use crate::remote::{self, Limits, Uri, download};
use crate::write::external::locations;

/// Largest remote file, in bytes.
const LARGEST: u64 = 64 << 30;

/// An input file on this machine.
#[derive(Debug)]
pub struct Fetched {
    /// Name in messages: the path as given, or the URI without credentials.
    pub name: String,
    pub path: PathBuf,
    /// Folder of a downloaded file and its external data, which is removed at the end.
    _folder: Option<TempDir>,
}

/// Returns the URI of an input; `None` for a path.
///
/// # Errors
/// The scheme of the URI is not supported.
pub fn uri(input: &Path) -> Result<Option<Uri>, Failure> {
    Uri::parse(&input.to_string_lossy()).transpose().map_err(Failure::new)
}

/// Returns the name of an input in messages.
pub fn name(input: &Path) -> String {
    match Uri::parse(&input.to_string_lossy()) {
        Some(Ok(uri)) => uri.shown().to_string(),
        _ => input.to_string_lossy().into_owned(),
    }
}

/// Returns the file name of an input, without the query of a URI.
pub fn file_name(input: &Path) -> Option<String> {
    let name = name(input);
    Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Downloads an input with its external data, if it is at a URI.
///
/// # Errors
/// A download fails. Missing external data is no error here: the reader of the model reports it.
pub fn fetch(input: &Path, limits: Limits) -> Result<Fetched, Failure> {
    let name = name(input);
    let Some(uri) = uri(input)? else { return Ok(Fetched { name, path: input.to_owned(), _folder: None }) };
    let failed =
        |uri: &Uri, why: &remote::Failure| Failure::new(format!("{}: cannot be read: {why}", uri.shown()));
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("no temporary directory: {}", crate::diag::reason(&error))))?;
    let own = file_name(input).unwrap_or_else(|| "model.onnx".to_owned());
    let path = folder.path().join(own);
    download(&uri, &path, LARGEST, limits).map_err(|why| failed(&uri, &why))?;
    for location in external(&path, &name) {
        let (beside, target) = (uri.beside(&location), folder.path().join(&location));
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(|error| Failure::unwritable(parent, &error))?;
        }
        match download(&beside, &target, LARGEST, limits) {
            Err(remote::Failure::NotFound) => drop(std::fs::remove_file(&target)),
            ended => ended.map_err(|why| failed(&beside, &why))?,
        }
    }
    Ok(Fetched { name, path, _folder: Some(folder) })
}

/// Returns the locations of a model's external data, without those outside of its directory.
fn external(path: &Path, name: &str) -> Vec<String> {
    let Ok(bytes) = file::read(path) else { return Vec::new() };
    let kind = sniff(name, &bytes);
    if !matches!(kind, Kind::Onnx | Kind::OnnxText | Kind::Textproto | Kind::Json) {
        return Vec::new();
    }
    let model = any::model(kind, bytes).0;
    let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let locations = model.iter().flat_map(locations).map(|location| location.to_string());
    // A download to the location of the model file would overwrite the model.
    let is_other = |location: &String| {
        leaves_folder(location).is_none() && !location.is_empty() && Some(location) != own.as_ref()
    };
    locations.filter(is_other).collect()
}
