//! The tensors of an archive: parameters, buffers and constants.
//!
//! Each is an entry of its own, its elements as they lay in memory. What is stored is a slice of the file; what is
//! deflated is inflated to the length that its type and shape say, and no further.

use std::io::{Cursor, Read};

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use zip::{CompressionMethod, ZipArchive};

use super::Copies;
use super::meta::elem;
use super::schema::{Payload, Payloads, Signature, TensorMeta};
use crate::graph::{ElemType, Tensor, TensorData};
use crate::read::zipped::{inflate, names, open};

/// The lists of tensors are JSON of a few hundred bytes for each.
const MAX_CONFIG: u64 = 64 << 20;

/// The most bytes of a tensor that is copied: its elements do not lie one after the other, or are deflated.
const MAX_COPIED: usize = 1 << 30;

/// A tensor of no more bytes is copied whoever asks: it may be a number that the graph depends on.
const MAX_SMALL: usize = 4096;

/// The tensors of an archive, by what the signature calls them.
pub struct Weights {
    bytes: Bytes,
    archive: ZipArchive<Cursor<Bytes>>,
    copies: Copies,
    /// With the folder that the entry is in.
    payloads: FxHashMap<String, (String, Payload)>,
}

impl Weights {
    pub fn of(bytes: &Bytes, copies: Copies) -> Result<Weights, String> {
        let mut archive = open(bytes.clone())?;
        let mut payloads = FxHashMap::default();
        for name in names(&archive) {
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
        Ok(Weights { bytes: bytes.clone(), archive, copies, payloads })
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
            return Err("is not in the archive".to_owned());
        };
        let Some(meta) = payload.tensor_meta.as_ref().filter(|_| !payload.use_pickle) else {
            return Err("is pickled, which may run anything and is not read".to_owned());
        };
        let path = format!("{folder}/{}", payload.path_name);
        let layout = Layout::of(meta).ok_or("has a type or shape that makes no sense")?;
        if self.copies == Copies::LeftOut && layout.span > MAX_SMALL && self.is_copied(&path, &layout)? {
            let elsewhere = TensorData::External(vec![("location".into(), path.into())]);
            return Ok(Tensor::new(layout.elem, layout.sizes, elsewhere));
        }
        let data = entry(&self.bytes, &mut self.archive, &path, layout.span)?;
        let raw = if layout.is_plain() { data.slice(..layout.span) } else { layout.gathered(&data)? };
        Ok(Tensor::from_raw(layout.elem, layout.sizes, raw))
    }

    /// Whether the elements of a tensor are no slice of the file.
    fn is_copied(&mut self, path: &str, layout: &Layout) -> Result<bool, String> {
        let entry = self.archive.by_name(path);
        let entry = entry.map_err(|error| format!("cannot be read from `{path}` ({error})"))?;
        Ok(entry.compression() != CompressionMethod::Stored || !layout.is_plain())
    }
}

/// The first bytes of an entry, as many as are needed.
fn entry(
    bytes: &Bytes,
    archive: &mut ZipArchive<Cursor<Bytes>>,
    path: &str,
    length: usize,
) -> Result<Bytes, String> {
    let mut entry =
        archive.by_name(path).map_err(|error| format!("cannot be read from `{path}` ({error})"))?;
    let too_short = || format!("needs {length} bytes, and `{path}` has fewer");
    if entry.compression() == CompressionMethod::Stored {
        let start = entry.data_start().and_then(|start| usize::try_from(start).ok());
        let size = usize::try_from(entry.size()).unwrap_or(usize::MAX);
        let end = start.and_then(|start| start.checked_add(length)).filter(|&end| end <= bytes.len());
        return match (start, end) {
            (Some(start), Some(end)) if length <= size => Ok(bytes.slice(start..end)),
            _ => Err(too_short()),
        };
    }
    if length > MAX_COPIED {
        return Err(format!("is deflated in `{path}`, to more than {MAX_COPIED} bytes"));
    }
    let mut content = Vec::new();
    let read = entry.by_ref().take(length as u64).read_to_end(&mut content);
    let read = read.map_err(|error| format!("is damaged in `{path}` ({error})"))?;
    if read < length { Err(too_short()) } else { Ok(content.into()) }
}

/// Where the elements of a tensor lie in its storage.
struct Layout {
    elem: ElemType,
    width: usize,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: usize,
    /// How many bytes of the storage it reaches to.
    span: usize,
}

impl Layout {
    fn of(meta: &TensorMeta) -> Option<Layout> {
        let elem = elem(meta.dtype)?;
        let width = elem.bits()? / 8;
        let ints =
            |list: &[Json]| list.iter().map(|item| item.get("as_int")?.as_i64()).collect::<Option<Vec<_>>>();
        let (sizes, strides) = (ints(&meta.sizes)?, ints(&meta.strides)?);
        let offset = meta.storage_offset.get("as_int").and_then(Json::as_i64).unwrap_or(0);
        if sizes.len() != strides.len() || sizes.iter().chain(&strides).any(|&number| number < 0) {
            return None;
        }
        let is_empty = sizes.contains(&0);
        let last = sizes.iter().zip(&strides).try_fold(offset, |last, (size, stride)| {
            last.checked_add(size.saturating_sub(1).checked_mul(*stride)?)
        })?;
        let reached = if is_empty { 0 } else { usize::try_from(last).ok()?.checked_add(1)? };
        let span = reached.checked_mul(width)?;
        Some(Layout { elem, width, sizes, strides, offset: usize::try_from(offset).ok()?, span })
    }

    /// Whether the elements lie in row-major order from the start.
    fn is_plain(&self) -> bool {
        let mut expected = 1i64;
        let dense = self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let fits = size == 1 || stride == expected;
            expected = expected.saturating_mul(size);
            fits
        });
        self.span == 0 || dense && self.offset == 0
    }

    /// The elements in row-major order.
    fn gathered(&self, data: &[u8]) -> Result<Bytes, String> {
        let bytes =
            self.sizes.iter().try_fold(self.width, |all, &size| all.checked_mul(usize::try_from(size).ok()?));
        let Some(bytes) = bytes.filter(|&bytes| bytes <= MAX_COPIED) else {
            return Err("repeats its elements too often".to_owned());
        };
        let mut raw = Vec::with_capacity(bytes);
        let mut at = vec![0i64; self.sizes.len()];
        while raw.len() < bytes {
            let place: i64 = at.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
            let start = (self.offset + place as usize) * self.width;
            raw.extend_from_slice(data.get(start..start + self.width).ok_or("lies outside of its storage")?);
            for axis in (0..at.len()).rev() {
                at[axis] += 1;
                if at[axis] < self.sizes[axis] {
                    break;
                }
                at[axis] = 0;
            }
        }
        Ok(raw.into())
    }
}
