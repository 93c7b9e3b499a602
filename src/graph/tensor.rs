//! Tensors. Elements in `raw_data` of a mapped file are not copied.

use std::sync::Arc;

use bytes::Bytes;

use super::deferred::Deferred;
use super::element::ElemType;
use super::metadata::Metadata;

/// Storage of a tensor's elements.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// No data field is set: valid only for a tensor without elements.
    Absent,
    /// `raw_data`: little-endian and packed; a slice of the file if it was read from one.
    Raw(Bytes),
    /// `float_data`: float, and complex64 as pairs.
    Floats(Vec<f32>),
    /// `int32_data`: int32, narrower integers, bool, and bit patterns of narrow floats.
    Int32s(Vec<i32>),
    /// `int64_data`.
    Int64s(Vec<i64>),
    /// `double_data`: double, and complex128 as pairs.
    Doubles(Vec<f64>),
    /// `uint64_data`: uint32 and uint64.
    Uint64s(Vec<u64>),
    /// `string_data`: byte strings, usually UTF-8, which is not checked.
    Strings(Vec<Bytes>),
    /// Data in another file: `location`, `offset`, `length`, `checksum`, as written.
    External(Metadata),
    /// Large elements of a remote file, which are read when they are needed.
    Deferred(Deferred),
}

/// A tensor of an initializer or attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name, as written; for an initializer, the name of its value.
    pub name: Option<Arc<str>>,
    /// `TensorProto.data_type` as written; may be an unknown number.
    pub data_type: Option<i32>,
    /// Dimensions as written; negative ones are invalid.
    pub dims: Vec<i64>,
    /// Elements in row-major order, or a reference to them.
    pub data: TensorData,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// `metadata_props`.
    pub metadata: Metadata,
    /// `segment` (begin, end) as written.
    pub segment: Option<(Option<i64>, Option<i64>)>,
    /// `data_location` as written.
    pub location: Option<i32>,
}

impl Tensor {
    /// Creates a tensor from elements packed as in `raw_data`.
    pub fn from_raw(elem: ElemType, dims: Vec<i64>, raw: impl Into<Bytes>) -> Self {
        Tensor::new(elem, dims, TensorData::Raw(raw.into()))
    }

    /// Creates an unnamed tensor; does not check that `data` fits `elem` and `dims`.
    pub fn new(elem: ElemType, dims: Vec<i64>, data: TensorData) -> Self {
        Tensor {
            name: None,
            data_type: Some(elem.number()),
            dims,
            data,
            doc: None,
            metadata: Metadata::default(),
            segment: None,
            location: None,
        }
    }

    /// Creates an int64 tensor; a scalar if `dims` is empty.
    pub fn int64s(dims: Vec<i64>, elements: &[i64]) -> Self {
        let raw: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Tensor::from_raw(ElemType::Int64, dims, raw)
    }

    /// Returns the element type; `None` if the type is missing or unknown.
    pub fn elem(&self) -> Option<ElemType> {
        ElemType::from_number(self.data_type?)
    }

    /// Returns the number of elements; `None` if a dimension is negative or the product overflows.
    pub fn len(&self) -> Option<usize> {
        self.dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(usize::try_from(dim).ok()?))
    }

    /// Returns true if there are no elements; `None` if [`Tensor::len`] is `None`.
    pub fn is_empty(&self) -> Option<bool> {
        self.len().map(|len| len == 0)
    }

    /// Returns the size in bytes as `raw_data`.
    /// Returns `None` for strings, unknown types and negative dimensions, and on overflow.
    pub fn byte_len(&self) -> Option<usize> {
        self.len()?.checked_mul(self.elem()?.bits()?).map(|bits| bits.div_ceil(8))
    }

    /// Returns true if the elements are in another file.
    pub fn is_external(&self) -> bool {
        matches!(self.data, TensorData::External(_))
    }

    /// Returns the elements packed as `raw_data`, whichever field holds them.
    /// Returns `None` for strings, external data, unknown types, and a failed read of deferred elements. Does not
    /// check the number of elements against `dims`.
    pub fn packed(&self) -> Option<Bytes> {
        fn pack<T: Copy, const N: usize>(items: &[T], bytes: fn(T) -> [u8; N], width: usize) -> Bytes {
            items.iter().flat_map(|&item| bytes(item).into_iter().take(width)).collect()
        }
        // An `int32_data` entry holds one element of up to 32 bits, or one byte of packed elements. A
        // `uint64_data` entry holds a uint32 or a uint64.
        let width = self.elem()?.bits()?.div_ceil(8);
        Some(match &self.data {
            TensorData::Absent => Bytes::new(),
            TensorData::Raw(raw) => raw.clone(),
            TensorData::Deferred(deferred) => deferred.bytes()?,
            TensorData::Floats(items) => pack(items, f32::to_le_bytes, 4),
            TensorData::Doubles(items) => pack(items, f64::to_le_bytes, 8),
            TensorData::Int64s(items) => pack(items, i64::to_le_bytes, 8),
            TensorData::Int32s(items) => pack(items, i32::to_le_bytes, width),
            TensorData::Uint64s(items) => pack(items, u64::to_le_bytes, width),
            TensorData::Strings(_) | TensorData::External(_) => return None,
        })
    }

    /// Returns the elements of a bool tensor, or of integers of 8 to 64 bits.
    /// Returns `None` for other types, external data, more than `limit` elements, a number of elements that
    /// does not match `dims`, and an element above `i64::MAX`.
    pub fn small_ints(&self, limit: usize) -> Option<Vec<i64>> {
        self.small(limit, ints)
    }

    /// Returns the elements of a float, double, float16 or bfloat16 tensor.
    /// Returns `None` for other types, external data, more than `limit` elements, and a number of elements
    /// that does not match `dims`.
    pub fn small_floats(&self, limit: usize) -> Option<Vec<f64>> {
        self.small(limit, floats)
    }

    fn small<T>(&self, limit: usize, read: fn(ElemType, &[u8]) -> Option<Vec<T>>) -> Option<Vec<T>> {
        let len = self.len().filter(|&len| len <= limit)?;
        read(self.elem()?, &self.packed()?).filter(|elements| elements.len() == len)
    }
}

/// Splits `raw` into arrays of `N` bytes; `None` if the length is not a multiple of `N`.
fn chunks<const N: usize>(raw: &[u8]) -> Option<impl Iterator<Item = [u8; N]>> {
    let (chunks, rest) = raw.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().copied())
}

fn ints(elem: ElemType, raw: &[u8]) -> Option<Vec<i64>> {
    Some(match elem {
        ElemType::Int64 => chunks(raw)?.map(i64::from_le_bytes).collect(),
        ElemType::Int32 => chunks(raw)?.map(|bytes| i32::from_le_bytes(bytes).into()).collect(),
        ElemType::Int16 => chunks(raw)?.map(|bytes| i16::from_le_bytes(bytes).into()).collect(),
        ElemType::Int8 => raw.iter().map(|&byte| i64::from(byte as i8)).collect(),
        ElemType::Uint8 | ElemType::Bool => raw.iter().map(|&byte| byte.into()).collect(),
        ElemType::Uint16 => chunks(raw)?.map(|bytes| u16::from_le_bytes(bytes).into()).collect(),
        ElemType::Uint32 => chunks(raw)?.map(|bytes| u32::from_le_bytes(bytes).into()).collect(),
        ElemType::Uint64 => {
            chunks(raw)?.map(|bytes| i64::try_from(u64::from_le_bytes(bytes)).ok()).collect::<Option<_>>()?
        }
        _ => return None,
    })
}

fn floats(elem: ElemType, raw: &[u8]) -> Option<Vec<f64>> {
    Some(match elem {
        ElemType::Float => chunks(raw)?.map(|bytes| f32::from_le_bytes(bytes).into()).collect(),
        ElemType::Double => chunks(raw)?.map(f64::from_le_bytes).collect(),
        ElemType::Float16 => chunks(raw)?.map(|bytes| half::f16::from_le_bytes(bytes).to_f64()).collect(),
        ElemType::Bfloat16 => chunks(raw)?.map(|bytes| half::bf16::from_le_bytes(bytes).to_f64()).collect(),
        _ => return None,
    })
}

/// A sparse tensor in coordinate format: `values` at `indices` of a dense tensor of `dims`.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTensor {
    /// Nonzero elements, as a vector.
    pub values: Option<Tensor>,
    /// Positions as int64: for each element, a flat index or a row with one index per axis.
    pub indices: Option<Tensor>,
    /// Shape of the dense tensor.
    pub dims: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ints_requires_complete_data_within_limit() {
        let tensor = Tensor::int64s(vec![3], &[1, -2, 3]);
        assert_eq!(tensor.small_ints(3), Some(vec![1, -2, 3]));
        assert_eq!(tensor.small_ints(2), None);
        let short = Tensor::from_raw(ElemType::Int64, vec![3], vec![0; 16]);
        assert_eq!(short.small_ints(9), None);
        let code = Tensor::new(ElemType::Uint8, vec![2], TensorData::Int32s(vec![-1, 7]));
        assert_eq!(code.small_ints(2), Some(vec![255, 7]));
        let half = Tensor::new(ElemType::Float16, vec![1], TensorData::Int32s(vec![0x3c00]));
        assert_eq!((half.small_floats(1), half.small_ints(1)), (Some(vec![1.0]), None));
        let wide = Tensor::new(ElemType::Uint32, vec![1], TensorData::Uint64s(vec![u32::MAX.into()]));
        assert_eq!(wide.small_ints(1), Some(vec![u32::MAX.into()]));
        let negative = Tensor::from_raw(ElemType::Int64, vec![-1], vec![]);
        assert_eq!((negative.len(), negative.small_ints(9)), (None, None));
    }
}
