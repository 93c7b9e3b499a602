//! Tensors by reference: what a file says of one, its bytes still where the file keeps them.

use std::sync::Arc;

use bytes::Bytes;

use super::Metadata;
use super::element::ElemType;

/// Where the elements of a tensor are.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// No data field is filled: right for a tensor without elements, a fault for any other.
    Absent,
    /// Little-endian, packed (`raw_data`); a slice of the mapped file.
    Raw(Bytes),
    /// `float_data`: float, and complex64 as pairs.
    Floats(Vec<f32>),
    /// `int32_data`: every integer up to 32 bits, bool, and the bit patterns of narrow floats.
    Int32s(Vec<i32>),
    /// `int64_data`.
    Int64s(Vec<i64>),
    /// `double_data`: double, and complex128 as pairs.
    Doubles(Vec<f64>),
    /// `uint64_data`: uint32 and uint64.
    Uint64s(Vec<u64>),
    /// `string_data`: UTF-8 by convention only.
    Strings(Vec<Bytes>),
    /// In another file: `location`, `offset`, `length`, `checksum`, as written.
    External(Metadata),
}

/// A tensor as an initializer or attribute holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// As written: for an initializer, that of its value.
    pub name: Option<Arc<str>>,
    /// `TensorProto.data_type` as written, which may be no number of ONNX.
    pub data_type: Option<i32>,
    /// As written: a negative one is a fault of the file.
    pub dims: Vec<i64>,
    /// The elements, or where they are, in row-major order.
    pub data: TensorData,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// `metadata_props`.
    pub metadata: Metadata,
    /// `segment` (begin, end), which no known writer uses.
    pub segment: Option<(Option<i64>, Option<i64>)>,
    /// `data_location` as written.
    pub location: Option<i32>,
}

impl Tensor {
    /// A tensor of `elem` and `dims` whose elements are `raw`, packed as `raw_data` is.
    pub fn from_raw(elem: ElemType, dims: Vec<i64>, raw: impl Into<Bytes>) -> Self {
        Tensor::new(elem, dims, TensorData::Raw(raw.into()))
    }

    /// A tensor without a name, whose elements are `data`; whether they fit `elem` and `dims` is not checked.
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

    /// An int64 vector (or, with `dims` empty, a scalar).
    pub fn int64s(dims: Vec<i64>, elements: &[i64]) -> Self {
        let raw: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Tensor::from_raw(ElemType::Int64, dims, raw)
    }

    /// The element type; `None` where the file states none, or a number that no release of ONNX has used.
    pub fn elem(&self) -> Option<ElemType> {
        ElemType::from_number(self.data_type?)
    }

    /// Number of elements; `None` where a dim is negative or the product does not fit.
    pub fn len(&self) -> Option<usize> {
        self.dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(usize::try_from(dim).ok()?))
    }

    /// Whether it has no elements; `None` as for [`Tensor::len`].
    pub fn is_empty(&self) -> Option<bool> {
        self.len().map(|len| len == 0)
    }

    /// Bytes that the elements take when packed as `raw_data`; `None` for strings and bad dims.
    pub fn byte_len(&self) -> Option<usize> {
        self.len()?.checked_mul(self.elem()?.bits()?).map(|bits| bits.div_ceil(8))
    }

    /// Whether its elements are in another file.
    pub fn is_external(&self) -> bool {
        matches!(self.data, TensorData::External(_))
    }

    /// The elements of an integer or bool tensor, if it has at most `limit` of them, holds them in
    /// this file, and in the right number.
    pub fn small_ints(&self, limit: usize) -> Option<Vec<i64>> {
        let (len, elem) = (self.len()?, self.elem()?);
        if len > limit {
            return None;
        }
        let ints: Vec<i64> = match &self.data {
            TensorData::Raw(raw) => ints_from_raw(elem, raw)?,
            TensorData::Int64s(ints) if elem == ElemType::Int64 => ints.clone(),
            TensorData::Int32s(ints) => ints.iter().map(|&int| i64::from(int)).collect(),
            TensorData::Uint64s(ints) => {
                ints.iter().map(|&int| i64::try_from(int).ok()).collect::<Option<_>>()?
            }
            TensorData::Absent => Vec::new(),
            _ => return None,
        };
        let whole = matches!(
            elem,
            ElemType::Int64
                | ElemType::Int32
                | ElemType::Int16
                | ElemType::Int8
                | ElemType::Uint8
                | ElemType::Uint16
                | ElemType::Uint32
                | ElemType::Uint64
                | ElemType::Bool
        );
        (whole && ints.len() == len).then_some(ints)
    }

    /// The elements of a float, double, float16 or bfloat16 tensor under the same conditions as
    /// [`Tensor::small_ints`].
    pub fn small_floats(&self, limit: usize) -> Option<Vec<f64>> {
        let (len, elem) = (self.len()?, self.elem()?);
        if len > limit {
            return None;
        }
        let floats: Vec<f64> = match (&self.data, elem) {
            (TensorData::Raw(raw), _) => floats_from_raw(elem, raw)?,
            (TensorData::Floats(floats), ElemType::Float) => floats.iter().map(|&x| f64::from(x)).collect(),
            (TensorData::Doubles(floats), ElemType::Double) => floats.clone(),
            (TensorData::Int32s(bits), ElemType::Float16) => {
                bits.iter().map(|&bits| half::f16::from_bits(bits as u16).to_f64()).collect()
            }
            (TensorData::Int32s(bits), ElemType::Bfloat16) => {
                bits.iter().map(|&bits| half::bf16::from_bits(bits as u16).to_f64()).collect()
            }
            (TensorData::Absent, _) if elem.is_float() => Vec::new(),
            _ => return None,
        };
        (floats.len() == len).then_some(floats)
    }
}

/// Splits `raw` into arrays of `N` bytes; `None` if it does not divide.
fn chunks<const N: usize>(raw: &[u8]) -> Option<impl Iterator<Item = [u8; N]>> {
    let (chunks, rest) = raw.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().copied())
}

fn ints_from_raw(elem: ElemType, raw: &[u8]) -> Option<Vec<i64>> {
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

fn floats_from_raw(elem: ElemType, raw: &[u8]) -> Option<Vec<f64>> {
    Some(match elem {
        ElemType::Float => chunks(raw)?.map(|bytes| f32::from_le_bytes(bytes).into()).collect(),
        ElemType::Double => chunks(raw)?.map(f64::from_le_bytes).collect(),
        ElemType::Float16 => chunks(raw)?.map(|bytes| half::f16::from_le_bytes(bytes).to_f64()).collect(),
        ElemType::Bfloat16 => chunks(raw)?.map(|bytes| half::bf16::from_le_bytes(bytes).to_f64()).collect(),
        _ => return None,
    })
}

/// A sparse tensor in coordinate form: `values` at `indices` of a dense tensor of `dims`.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTensor {
    /// The elements that are not zero: a vector.
    pub values: Option<Tensor>,
    /// Where they stand: int64, one index into the flat tensor for each, or a row with one for each axis.
    pub indices: Option<Tensor>,
    /// The shape of the dense tensor.
    pub dims: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_elements_are_read_only_when_all_are_there() {
        let tensor = Tensor::int64s(vec![3], &[1, -2, 3]);
        assert_eq!(tensor.small_ints(3), Some(vec![1, -2, 3]));
        assert_eq!(tensor.small_ints(2), None);
        let short = Tensor::from_raw(ElemType::Int64, vec![3], vec![0; 16]);
        assert_eq!(short.small_ints(9), None);
        let negative = Tensor::from_raw(ElemType::Int64, vec![-1], vec![]);
        assert_eq!((negative.len(), negative.small_ints(9)), (None, None));
    }
}
