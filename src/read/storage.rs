//! Tensor storage of PyTorch: elements in an entry of a zip file, addressed by sizes and strides.

use std::io::{Cursor, Read};

use bytes::Bytes;
use zip::{CompressionMethod, ZipArchive};

use crate::diag::counted;
use crate::graph::{ElemType, Tensor};

/// Maximum size of a tensor that is copied because it is deflated or not contiguous, in bytes.
const MAX_COPIED: usize = 1 << 30;

/// Returns the first `length` bytes of an entry: a slice of the file if the entry is not compressed.
///
/// # Errors
/// The first fault, as a predicate of the tensor.
pub fn entry(
    bytes: &Bytes,
    archive: &mut ZipArchive<Cursor<Bytes>>,
    path: &str,
    length: usize,
) -> Result<Bytes, String> {
    let mut entry =
        archive.by_name(path).map_err(|error| format!("cannot be read from `{path}` ({error})"))?;
    let too_short = || format!("needs {}, and `{path}` has fewer", counted(length, "byte"));
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
        return Err(format!("inflates from `{path}` to more than {MAX_COPIED} bytes"));
    }
    let mut content = Vec::new();
    let read = entry.by_ref().take(length as u64).read_to_end(&mut content);
    let read = read.map_err(|error| format!("is damaged in `{path}` ({error})"))?;
    if read < length { Err(too_short()) } else { Ok(content.into()) }
}

/// Position of the elements of a tensor in its storage.
pub struct Layout {
    /// Element type.
    pub elem: ElemType,
    width: usize,
    /// Shape of the tensor.
    pub sizes: Vec<i64>,
    /// Distance between neighbors along each axis, in elements.
    pub strides: Vec<i64>,
    offset: usize,
    /// Number of leading bytes of the storage that the tensor needs.
    pub span: usize,
}

impl Layout {
    /// Creates a layout; strides and offset are in elements. Returns `None` if the arguments are invalid.
    pub fn new(elem: ElemType, sizes: Vec<i64>, strides: Vec<i64>, offset: i64) -> Option<Layout> {
        let width = elem.bits()? / 8;
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

    /// Returns true if the elements are contiguous, in row-major order, from the start of the storage.
    pub fn is_plain(&self) -> bool {
        let mut expected = 1i64;
        let dense = self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let fits = size == 1 || stride == expected;
            expected = expected.saturating_mul(size);
            fits
        });
        self.span == 0 || dense && self.offset == 0
    }

    /// Returns the tensor; `data` is the start of the storage.
    pub fn tensor(self, data: &Bytes) -> Result<Tensor, String> {
        let raw = match data.get(..self.span) {
            None => return Err(format!("needs {}, but its storage is smaller", counted(self.span, "byte"))),
            Some(_) if self.is_plain() => data.slice(..self.span),
            Some(_) => self.gathered(data)?,
        };
        Ok(Tensor::from_raw(self.elem, self.sizes, raw))
    }

    /// Copies the elements to row-major order.
    fn gathered(&self, data: &[u8]) -> Result<Bytes, String> {
        let bytes =
            self.sizes.iter().try_fold(self.width, |all, &size| all.checked_mul(usize::try_from(size).ok()?));
        let Some(bytes) = bytes.filter(|&bytes| bytes <= MAX_COPIED) else {
            return Err(format!("has more than {MAX_COPIED} bytes when made contiguous"));
        };
        let mut raw = Vec::with_capacity(bytes);
        let mut at = vec![0i64; self.sizes.len()];
        while raw.len() < bytes {
            let place: i64 = at.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
            let start = (self.offset + place as usize) * self.width;
            raw.extend_from_slice(data.get(start..start + self.width).ok_or("is outside of its storage")?);
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
