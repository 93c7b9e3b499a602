//! Reads and writes `TensorProto.raw_data`.
//!
//! Elements are little-endian. Elements below 8 bits form one bit stream with the first element in the lowest
//! bits. A `bool` is one byte.

use half::{bf16, f16};

use super::{Array, Buffer, Result, bad};
use crate::graph::element::ElemType;

/// A type with a fixed little-endian encoding.
trait Bytes: Sized {
    fn read(bytes: &[u8]) -> Vec<Self>;
    fn write(values: &[Self]) -> Vec<u8>;
}

macro_rules! little_endian {
    ($($type:ty)*) => { $(impl Bytes for $type {
        fn read(bytes: &[u8]) -> Vec<Self> {
            bytes.as_chunks().0.iter().map(|chunk| <$type>::from_le_bytes(*chunk)).collect()
        }
        fn write(values: &[Self]) -> Vec<u8> {
            values.iter().flat_map(|value| value.to_le_bytes()).collect()
        }
    })* };
}
little_endian!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64);

impl Bytes for bool {
    fn read(bytes: &[u8]) -> Vec<bool> {
        bytes.iter().map(|&byte| byte != 0).collect()
    }

    fn write(values: &[bool]) -> Vec<u8> {
        values.iter().map(|&value| u8::from(value)).collect()
    }
}

impl<T: Bytes + Copy> Bytes for [T; 2] {
    fn read(bytes: &[u8]) -> Vec<[T; 2]> {
        T::read(bytes).as_chunks().0.to_vec()
    }

    fn write(values: &[[T; 2]]) -> Vec<u8> {
        T::write(values.as_flattened())
    }
}

macro_rules! numeric_buffers {
    ($do:ident) => {
        $do!(F32 F64 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 Bool C64 C128)
    };
}

impl Array {
    /// Returns the length in bytes of a tensor's `raw_data`; `None` for strings and on overflow.
    fn raw_len(elem: ElemType, count: usize) -> Option<usize> {
        Some(count.checked_mul(elem.bits()?)?.div_ceil(8))
    }

    /// Reads `raw_data`.
    ///
    /// # Errors
    /// Returns a refusal if the length does not match the shape, or for strings.
    pub fn from_raw(elem: ElemType, shape: Vec<usize>, bytes: &[u8]) -> Result<Array> {
        let count = super::shape::numel(&shape)?;
        if Array::raw_len(elem, count) != Some(bytes.len()) {
            return bad("the length of the raw data does not match the shape");
        }
        macro_rules! read {
            ($($variant:ident)*) => {
                match Buffer::empty(elem) {
                    $(Buffer::$variant(_) => Buffer::$variant(Bytes::read(bytes)),)*
                    Buffer::Str(_) => return bad("raw data is not supported for strings"),
                    Buffer::Codes(_) => Buffer::Codes(unpack(bytes, elem.bits().unwrap_or(8), count)),
                }
            };
        }
        let data = numeric_buffers!(read);
        Array::new(elem, shape, data)
    }

    /// Returns the `raw_data` of this tensor; `None` for strings.
    pub fn to_raw(&self) -> Option<Vec<u8>> {
        macro_rules! write {
            ($($variant:ident)*) => {
                match self.data() {
                    $(Buffer::$variant(v) => Bytes::write(v),)*
                    Buffer::Str(_) => return None,
                    Buffer::Codes(v) => pack(v, self.elem().bits()?),
                }
            };
        }
        Some(numeric_buffers!(write))
    }
}

/// Splits a bit stream, lowest bit first, into codes of `bits` ≤ 8 bits.
fn unpack(bytes: &[u8], bits: usize, count: usize) -> Vec<u8> {
    let mask = (1u16 << bits) - 1;
    (0..count)
        .map(|i| {
            let (byte, shift) = (i * bits / 8, i * bits % 8);
            let low = u16::from(bytes[byte]);
            let high = bytes.get(byte + 1).map_or(0, |&b| u16::from(b));
            (((low | high << 8) >> shift) & mask) as u8
        })
        .collect()
}

/// Packs codes of `bits` ≤ 8 bits into a bit stream, lowest bit first.
fn pack(codes: &[u8], bits: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; (codes.len() * bits).div_ceil(8)];
    for (i, &code) in codes.iter().enumerate() {
        let (byte, shift) = (i * bits / 8, i * bits % 8);
        let [low, high] = (u16::from(code) << shift).to_le_bytes();
        bytes[byte] |= low;
        if high != 0 {
            bytes[byte + 1] |= high;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(elem: ElemType, shape: &[usize], bytes: &[u8], expected: &[f64]) {
        let array = Array::from_raw(elem, shape.to_vec(), bytes).expect("well-formed");
        assert_eq!(array.f64s().expect("real"), expected);
        assert_eq!(array.to_raw().expect("not strings"), bytes);
    }

    #[test]
    fn sub_byte_elements_are_packed_lowest_bit_first() {
        check(ElemType::Int4, &[3], &[0x21, 0x0F], &[1.0, 2.0, -1.0]);
        check(ElemType::Uint2, &[5], &[0b11_10_01_00, 0b01], &[0.0, 1.0, 2.0, 3.0, 1.0]);
        check(ElemType::Float6e2m3, &[3], &[0x08, 0x80, 0x01], &[1.0, 0.0, 4.0]);
        check(ElemType::Float4e2m1, &[2], &[0xF1], &[0.5, -6.0]);
    }

    #[test]
    fn multi_byte_elements_are_little_endian() {
        check(ElemType::Int16, &[2], &[1, 0, 0xFF, 0xFF], &[1.0, -1.0]);
        check(ElemType::Bfloat16, &[1], &[0x80, 0x3F], &[1.0]);
        check(ElemType::Bool, &[0], &[], &[]);
    }

    #[test]
    fn raw_data_of_wrong_length_is_refused() {
        for (elem, bytes) in [(ElemType::Float, 3), (ElemType::Int4, 1), (ElemType::String, 0)] {
            assert!(Array::from_raw(elem, vec![3], &vec![0; bytes]).is_err());
        }
    }
}
