//! The tensors of an archive: parameters, buffers and constants.
//!
//! Each is an entry of its own, its elements as they lay in memory. What is stored is a slice of the file; what is
//! deflated is inflated to the length that its type and shape say, and no further.
//!
//! PyTorch up to 2.6 has two entries for all of them: what `torch.save` writes of a dictionary, an archive itself.

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

/// The lists of tensors are JSON of a few hundred bytes for each.
const MAX_CONFIG: u64 = 64 << 20;

/// A tensor of no more bytes is copied whoever asks: it may be a number that the graph depends on.
const MAX_SMALL: usize = 4096;

/// Dictionaries of tensors, as PyTorch up to 2.6 calls them.
const DICTIONARIES: [&str; 2] = ["serialized_state_dict.pt", "serialized_constants.pt"];

/// The tensors of an archive, by what the signature calls them.
pub struct Weights {
    bytes: Bytes,
    archive: ZipArchive<Cursor<Bytes>>,
    copies: Copies,
    /// With the folder that the entry is in.
    payloads: FxHashMap<String, (String, Payload)>,
    /// Those of dictionaries.
    saved: State,
}

impl Weights {
    pub fn of(bytes: &Bytes, copies: Copies) -> Result<Weights, String> {
        let mut archive = open(bytes.clone())?;
        let mut payloads = FxHashMap::default();
        let mut saved = State::default();
        for name in names(&archive) {
            if DICTIONARIES.iter().any(|dictionary| name.ends_with(dictionary)) {
                let tensors = dictionary(bytes, &mut archive, &name);
                saved.extend(tensors.map_err(|why| format!("`{name}` cannot be read: {why}"))?);
            }
            let Some((folder, file)) = name.rsplit_once('/') else { continue };
            if file.ends_with("_config.json")
                && (folder.ends_with("/weights") || folder.ends_with("/constants"))
            {
                let json = inflate(&mut archive, &name, MAX_CONFIG)?;
                let listed: Payloads = serde_json::from_slice(&json)
                    .map_err(|error| format!("`{name}` is no valid JSON: {error}"))?;
                let entries = listed.config.into_iter();
                payloads.extend(entries.map(|(key, payload)| (key, (folder.to_owned(), payload))));
            }
        }
        if names(&archive).iter().any(|name| name.ends_with("/byteorder"))
            && names(&archive).iter().filter(|name| name.ends_with("/byteorder")).any(|name| {
                inflate(&mut archive, name, MAX_CONFIG).is_ok_and(|order| order.starts_with(b"big"))
            })
        {
            return Err("its tensors are big-endian".to_owned());
        }
        Ok(Weights { bytes: bytes.clone(), archive, copies, payloads, saved })
    }

    /// The tensors that were lifted into inputs, by the names of those.
    pub fn lifted(&mut self, signature: &Signature) -> Result<FxHashMap<String, Tensor>, String> {
        let mut lifted = FxHashMap::default();
        for (kind, said) in signature.input_specs.iter().flatten() {
            let key = match kind.as_str() {
                "parameter" => "parameter_name",
                "buffer" => "buffer_name",
                "tensor_constant" => "tensor_constant_name",
                "user_input" => continue,
                other => return Err(format!("it takes an input of the kind `{other}`")),
            };
            let named = said.get("arg").and_then(|arg| arg.get("name")).and_then(Json::as_str);
            let (Some(named), Some(name)) = (named, said.get(key).and_then(Json::as_str)) else {
                return Err(format!("its signature does not say which {kind} an input is"));
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
            return Err("is pickled, which may run anything and is not read".to_owned());
        };
        let path = format!("{folder}/{}", payload.path_name);
        let layout = layout(meta).ok_or("has a type or shape that makes no sense")?;
        if self.copies == Copies::LeftOut && layout.span > MAX_SMALL && self.is_copied(&path, &layout)? {
            let elsewhere = TensorData::External(vec![("location".into(), path.into())]);
            return Ok(Tensor::new(layout.elem, layout.sizes, elsewhere));
        }
        let data = entry(&self.bytes, &mut self.archive, &path, layout.span)?;
        layout.tensor(&data)
    }

    /// Whether the elements of a tensor are no slice of the file.
    fn is_copied(&mut self, path: &str, layout: &Layout) -> Result<bool, String> {
        let entry = self.archive.by_name(path);
        let entry = entry.map_err(|error| format!("cannot be read from `{path}` ({error})"))?;
        Ok(entry.compression() != CompressionMethod::Stored || !layout.is_plain())
    }
}

/// The tensors of an entry that is an archive itself.
fn dictionary(bytes: &Bytes, archive: &mut ZipArchive<Cursor<Bytes>>, name: &str) -> Result<State, String> {
    let size = archive.by_name(name).map_err(|error| error.to_string())?.size();
    let size = usize::try_from(size).map_err(|_| "it is too large".to_owned())?;
    state::read(&entry(bytes, archive, name, size)?)
}

/// Where the elements of a tensor lie, as an archive says it.
fn layout(meta: &TensorMeta) -> Option<Layout> {
    let ints =
        |list: &[Json]| list.iter().map(|item| item.get("as_int")?.as_i64()).collect::<Option<Vec<_>>>();
    let offset = meta.storage_offset.get("as_int").and_then(Json::as_i64).unwrap_or(0);
    Layout::new(elem(meta.dtype)?, ints(&meta.sizes)?, ints(&meta.strides)?, offset)
}
