//! Computed tensors. Large computed tensors are kept in temporary files, to bound memory.

use std::env::consts;
use std::io::{self, Write};
use std::sync::Arc;

use crate::graph::{ElemType, Tensor, TensorData};
use crate::infer::eval::Array;
use crate::infer::load;
use crate::read::file;

use super::bytes_of;

/// Minimum size in bytes of a tensor that is kept in a file.
const LEAST: usize = 4 << 20;

/// A computed tensor.
#[derive(Clone, Debug)]
pub enum Folded {
    /// In memory.
    Array(Arc<Array>),
    /// In a temporary file.
    Stored(Tensor),
}

impl Folded {
    /// Returns the element type.
    pub fn elem(&self) -> Option<ElemType> {
        match self {
            Folded::Array(array) => Some(array.elem()),
            Folded::Stored(tensor) => tensor.elem(),
        }
    }

    /// Returns the size in bytes of the elements, packed as in a file.
    pub fn bytes(&self) -> usize {
        match self {
            Folded::Array(array) => bytes_of(array),
            Folded::Stored(tensor) => tensor.byte_len().unwrap_or(0),
        }
    }

    /// Converts to a tensor of a model.
    pub fn into_tensor(self) -> Tensor {
        match self {
            Folded::Array(array) => load::tensor_of(&array),
            Folded::Stored(tensor) => tensor,
        }
    }
}

/// Returns a large array as a tensor whose elements are in a temporary file, mapped into memory.
///
/// The operating system deletes the file when its last reference is dropped. Returns `None` for strings, if
/// the array is small, or if no file can be written.
pub fn stored(array: &Array) -> Option<Tensor> {
    if bytes_of(array) < LEAST {
        return None;
    }
    let tensor = load::tensor_of(array);
    let TensorData::Raw(raw) = &tensor.data else { return None };
    let data = TensorData::Raw(in_file(raw).ok()?);
    Some(Tensor { data, ..tensor })
}

/// Writes bytes to a temporary file and maps it.
fn in_file(bytes: &[u8]) -> io::Result<bytes::Bytes> {
    // A browser has no file system, and the standard library panics there.
    if consts::ARCH.starts_with("wasm") {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file::mapped(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_are_stored_unchanged() {
        let array = |len: usize| Array::i64s(vec![len], (0..len as i64).collect()).expect("an array");
        let large = array(LEAST / 8);
        let tensor = stored(&large).expect("a tensor");
        assert_eq!(load::array(&tensor), Some(large));
        assert_eq!(stored(&array(1)), None);
    }
}
