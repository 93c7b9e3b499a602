//! Tensor elements that stay in a file until they are needed.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// A file that is read in ranges, for example over a network.
pub trait RangeRead: fmt::Debug + Send + Sync {
    /// Returns the size of the file, in bytes.
    fn size(&self) -> u64;

    /// Returns `len` bytes from `offset` on; `None` if the bytes are unavailable.
    ///
    /// After a failure, the owner of the reader must discard everything that was computed from the file.
    fn read(&self, offset: u64, len: usize) -> Option<Bytes>;
}

impl RangeRead for Bytes {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, offset: u64, len: usize) -> Option<Bytes> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(len).filter(|&end| end <= self.len())?;
        Some(self.slice(start..end))
    }
}

/// Field of `TensorProto` with deferred elements; all deferred elements are little-endian and packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferredField {
    /// `raw_data`.
    Raw,
    /// `float_data`.
    Floats,
    /// `double_data`.
    Doubles,
}

/// Range of a file with the elements of a tensor.
#[derive(Clone)]
pub struct Deferred {
    source: Arc<dyn RangeRead>,
    offset: u64,
    len: usize,
    field: DeferredField,
}

impl Deferred {
    /// Creates a reference to `len` bytes from `offset` on.
    pub fn new(source: Arc<dyn RangeRead>, offset: u64, len: usize, field: DeferredField) -> Self {
        Deferred { source, offset, len, field }
    }

    /// Returns the size of the elements, in bytes.
    pub fn byte_len(&self) -> usize {
        self.len
    }

    /// Returns the field of `TensorProto` that holds the elements.
    pub fn field(&self) -> DeferredField {
        self.field
    }

    /// Reads the elements; `None` if the elements are unavailable.
    pub fn bytes(&self) -> Option<Bytes> {
        self.source.read(self.offset, self.len)
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred")
            .field("offset", &self.offset)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Deferred {
    /// Compares the elements. Reads them only if the ranges differ, but have equal lengths and fields.
    fn eq(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.source, &other.source) && self.offset == other.offset;
        (self.field, self.len) == (other.field, other.len)
            && (is_same || self.bytes().is_some_and(|bytes| Some(bytes) == other.bytes()))
    }
}
