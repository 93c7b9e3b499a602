//! Tensor contents, independent of how the file stores them.

use std::borrow::Cow;

use super::load;
use crate::graph::{Tensor, TensorData};

/// Elements, type and shape of a tensor, to compare tensors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content<'t> {
    elem: i32,
    dims: &'t [i64],
    bytes: Cow<'t, [u8]>,
}

impl<'t> Content<'t> {
    /// Returns the content of a tensor, or `None` if its elements cannot be read.
    pub fn of(tensor: &'t Tensor) -> Option<Self> {
        let bytes = match &tensor.data {
            TensorData::Raw(raw) if tensor.byte_len() == Some(raw.len()) => Cow::Borrowed(&raw[..]),
            TensorData::Strings(strings) => Cow::Owned(joined(strings)),
            _ => Cow::Owned(load::array(tensor)?.to_raw()?),
        };
        Some(Content { elem: tensor.data_type?, dims: &tensor.dims, bytes })
    }
}

/// Concatenates strings, each prefixed with its length.
fn joined(strings: &[bytes::Bytes]) -> Vec<u8> {
    let mut all = Vec::new();
    for string in strings {
        all.extend((string.len() as u64).to_le_bytes());
        all.extend(&string[..]);
    }
    all
}
