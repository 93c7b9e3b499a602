//! Tensors of an archive: parameters, buffers and constants.
//!
//! Each tensor is an entry with its elements. Contiguous elements in an uncompressed entry become a slice of the
//! file. A deflated entry is inflated up to the length that its type and shape require.
//!
//! PyTorch up to 2.6 writes two entries with dictionaries of tensors instead; each is an archive of `torch.save`.

use std::io::Cursor;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use zip::{CompressionMethod, ZipArchive};

use super::Copies;
use super::meta::elem;
use super::schema::{Payload, Payloads, Signature, TensorMeta};
use crate::graph::{Tensor, TensorData};
use crate::read::state::{self, State};
use crate::read::storage::{Layout, entry};
use crate::read::zipped::{inflate, names, open};

/// Maximum size of an inflated list of tensors, in bytes. Each entry takes a few hundred bytes.
const MAX_CONFIG: u64 = 64 << 20;

/// Maximum size of a tensor that is always copied, in bytes.
///
/// A small tensor may be a constant that shapes depend on.
const MAX_SMALL: usize = 4096;

/// Entries with dictionaries of tensors, in archives of PyTorch up to 2.6.
const DICTIONARIES: [&str; 2] = ["serialized_state_dict.pt", "serialized_constants.pt"];

/// Tensors of an archive, by their name in the signature.
pub struct Weights {
    bytes: Bytes,
    archive: ZipArchive<Cursor<Bytes>>,
    copies: Copies,
    /// Directory in the archive and entry of each tensor.
    payloads: FxHashMap<String, (String, Payload)>,
    /// Tensors of the dictionaries.
    saved: State,
}

impl Weights {
    /// Lists the tensors of an archive.
    ///
    /// # Errors
    /// The reason as a clause for a message.
    pub fn of(bytes: &Bytes, copies: Copies) -> Result<Weights, String> {
        let mut archive = open(bytes.clone())?;
        let mut payloads = FxHashMap::default();
        let mut saved = State::default();
        for name in names(&archive) {
            if DICTIONARIES.iter().any(|dictionary| name.ends_with(dictionary)) {
                let tensors = dictionary(bytes, &mut archive, &name);
                saved.extend(
                    tensors.map_err(|why| format!("the archive entry `{name}` cannot be read: {why}"))?,
                );
            }
            let Some((folder, file)) = name.rsplit_once('/') else { continue };
            if file.ends_with("_config.json")
                && (folder.ends_with("/weights") || folder.ends_with("/constants"))
            {
                let json = inflate(&mut archive, &name, MAX_CONFIG)?;
                let listed: Payloads = serde_json::from_slice(&json)
                    .map_err(|error| format!("`{name}` cannot be parsed: {error}"))?;
                let entries = listed.config.into_iter();
                payloads.extend(entries.map(|(key, payload)| (key, (folder.to_owned(), payload))));
            }
        }
        if names(&archive).iter().any(|name| name.ends_with("/byteorder"))
            && names(&archive).iter().filter(|name| name.ends_with("/byteorder")).any(|name| {
                inflate(&mut archive, name, MAX_CONFIG).is_ok_and(|order| order.starts_with(b"big"))
            })
        {
            return Err("the tensors are big-endian, which is not supported".to_owned());
        }
        Ok(Weights { bytes: bytes.clone(), archive, copies, payloads, saved })
    }

    /// Returns the tensors that were lifted to graph inputs, by the name of the input.
    pub fn lifted(&mut self, signature: &Signature) -> Result<FxHashMap<String, Tensor>, String> {
        let mut lifted = FxHashMap::default();
        for (kind, fields) in signature.input_specs.iter().flatten() {
            let key = match kind.as_str() {
                "parameter" => "parameter_name",
                "buffer" => "buffer_name",
                "tensor_constant" => "tensor_constant_name",
                // A `constant_input` is a Python argument: the nodes that use it repeat its value.
                "user_input" | "constant_input" => continue,
                other => return Err(format!("inputs of kind `{other}` are not supported")),
            };
            let named = fields.get("arg").and_then(|arg| arg.get("name")).and_then(Json::as_str);
            let (Some(named), Some(name)) = (named, fields.get(key).and_then(Json::as_str)) else {
                return Err(format!("the signature does not name the {kind} of an input"));
            };
            let tensor = self.tensor(name).map_err(|why| format!("the tensor `{name}` {why}"))?;
            lifted.insert(named.to_owned(), tensor);
        }
        Ok(lifted)
    }

    fn tensor(&mut self, name: &str) -> Result<Tensor, String> {
        let Some((folder, payload)) = self.payloads.get(name) else {
            return self.saved.get(name).cloned().ok_or_else(|| "is not in the archive".to_owned());
        };
        let Some(meta) = payload.tensor_meta.as_ref().filter(|_| !payload.use_pickle) else {
            return Err("is stored as a pickle instead of raw elements, which is not supported".to_owned());
        };
        let path = format!("{folder}/{}", payload.path_name);
        let layout = layout(meta).ok_or("has an unsupported type or an invalid shape")?;
        if self.copies == Copies::LeftOut && layout.span > MAX_SMALL && self.is_copied(&path, &layout)? {
            let elsewhere = TensorData::External(vec![("location".into(), path.into())]);
            return Ok(Tensor::new(layout.elem, layout.sizes, elsewhere));
        }
        let data = entry(&self.bytes, &mut self.archive, &path, layout.span)?;
        layout.tensor(&data)
    }

    /// Returns true if the elements of a tensor cannot be a slice of the file.
    fn is_copied(&mut self, path: &str, layout: &Layout) -> Result<bool, String> {
        let entry = self.archive.by_name(path);
        let entry = entry.map_err(|error| format!("cannot be read from `{path}` ({error})"))?;
        Ok(entry.compression() != CompressionMethod::Stored || !layout.is_plain())
    }
}

/// Reads the tensors of an entry that is an archive of `torch.save`.
fn dictionary(bytes: &Bytes, archive: &mut ZipArchive<Cursor<Bytes>>, name: &str) -> Result<State, String> {
    let size = archive.by_name(name).map_err(|error| error.to_string())?.size();
    let size = usize::try_from(size).map_err(|_| "it is too large".to_owned())?;
    state::read(&entry(bytes, archive, name, size)?)
}

/// Returns the layout of a tensor from its metadata, or `None` if the layout is invalid or symbolic.
fn layout(meta: &TensorMeta) -> Option<Layout> {
    let ints =
        |list: &[Json]| list.iter().map(|item| item.get("as_int")?.as_i64()).collect::<Option<Vec<_>>>();
    let offset = meta.storage_offset.get("as_int").and_then(Json::as_i64).unwrap_or(0);
    Layout::new(elem(meta.dtype)?, ints(&meta.sizes)?, ints(&meta.strides)?, offset)
}
