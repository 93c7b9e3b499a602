//! Conversion of tensor elements to and from `f64` and `i128`.

use half::{bf16, f16};

use super::minifloat::Format;
use super::{Array, Buffer, Refusal, Result, bad};
use crate::graph::element::ElemType;

impl Array {
    /// Creates a tensor, rounding to the element type.
    /// Floats round to nearest even. Overflow becomes infinity; in types without infinity, NaN; in types with
    /// neither, the largest value. Integers truncate toward zero and clamp; NaN becomes 0. For `bool`, nonzero is
    /// true.
    pub fn from_f64s(elem: ElemType, shape: Vec<usize>, data: Vec<f64>) -> Result<Array> {
        use ElemType as E;
        let data = match elem {
            E::Float => Buffer::F32(data.into_iter().map(|x| x as f32).collect()),
            E::Double => Buffer::F64(data),
            E::Float16 => Buffer::F16(data.into_iter().map(round_f16).collect()),
            E::Bfloat16 => Buffer::Bf16(data.into_iter().map(round_bf16).collect()),
            E::Bool => Buffer::Bool(data.into_iter().map(|x| x != 0.0).collect()),
            E::String | E::Complex64 | E::Complex128 => {
                return bad("the element type is not a real number type");
            }
            _ if elem.is_integer() => {
                let whole = data.into_iter().map(|x| x as i128).collect();
                return Array::from_ints(elem, shape, clamp_to(elem, whole));
            }
            _ => {
                let format = Format::of(elem).ok_or(Refusal::Unsupported)?;
                Buffer::Codes(data.into_iter().map(|x| format.encode(x, false) as u8).collect())
            }
        };
        Array::new(elem, shape, data)
    }

    /// Creates a tensor. Integers wrap (two's complement), and floats are rounded.
    /// For `bool`, nonzero is true.
    pub fn from_ints(elem: ElemType, shape: Vec<usize>, data: Vec<i128>) -> Result<Array> {
        use ElemType as E;
        macro_rules! wrap {
            ($variant:ident) => {
                Buffer::$variant(data.into_iter().map(|x| x as _).collect())
            };
        }
        let data = match elem {
            E::Int8 => wrap!(I8),
            E::Int16 => wrap!(I16),
            E::Int32 => wrap!(I32),
            E::Int64 => wrap!(I64),
            E::Uint8 => wrap!(U8),
            E::Uint16 => wrap!(U16),
            E::Uint32 => wrap!(U32),
            E::Uint64 => wrap!(U64),
            E::Int4 | E::Uint4 => Buffer::Codes(data.into_iter().map(|x| (x & 0xF) as u8).collect()),
            E::Int2 | E::Uint2 => Buffer::Codes(data.into_iter().map(|x| (x & 0x3) as u8).collect()),
            E::Bool => Buffer::Bool(data.into_iter().map(|x| x != 0).collect()),
            E::Float => wrap!(F32),
            _ => return Array::from_f64s(elem, shape, data.into_iter().map(|x| x as f64).collect()),
        };
        Array::new(elem, shape, data)
    }

    /// Returns the elements as real numbers, exact except for integers beyond 2⁵³.
    /// Fails for strings and complex numbers.
    pub fn f64s(&self) -> Result<Vec<f64>> {
        macro_rules! widen {
            ($v:expr) => {
                $v.iter().map(|&x| x as f64).collect()
            };
        }
        Ok(match self.data() {
            Buffer::F32(v) => widen!(v),
            Buffer::F64(v) => v.clone(),
            Buffer::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
            Buffer::Bf16(v) => v.iter().map(|x| x.to_f64()).collect(),
            Buffer::Codes(v) if self.elem().is_float() => {
                let format = Format::of(self.elem()).ok_or(Refusal::Unsupported)?;
                v.iter().map(|&code| format.decode(u32::from(code))).collect()
            }
            _ => widen!(self.ints()?),
        })
    }

    /// Returns the elements as integers, `bool` as 0 and 1; fails for other types.
    pub fn ints(&self) -> Result<Vec<i128>> {
        macro_rules! widen {
            ($v:expr) => {
                $v.iter().map(|&x| x as i128).collect()
            };
        }
        let sign = match self.elem() {
            ElemType::Int4 => 8,
            ElemType::Int2 => 2,
            _ => 0,
        };
        Ok(match self.data() {
            Buffer::I8(v) => widen!(v),
            Buffer::I16(v) => widen!(v),
            Buffer::I32(v) => widen!(v),
            Buffer::I64(v) => widen!(v),
            Buffer::U8(v) => widen!(v),
            Buffer::U16(v) => widen!(v),
            Buffer::U32(v) => widen!(v),
            Buffer::U64(v) => widen!(v),
            Buffer::Bool(v) => widen!(v),
            Buffer::Codes(v) if self.elem().is_integer() => {
                v.iter().map(|&code| (i128::from(code) ^ sign) - sign).collect()
            }
            _ => return bad("an input must be an integer tensor"),
        })
    }

    /// Returns the elements as `i64`, for shapes, axes and indices.
    /// Fails for types other than integers and `bool`, and on overflow.
    pub fn as_i64s(&self) -> Result<Vec<i64>> {
        if let Buffer::I64(v) = self.data() {
            return Ok(v.clone());
        }
        let fits = self.ints()?.into_iter().map(i64::try_from).collect::<std::result::Result<_, _>>();
        fits.map_err(|_| Refusal::BadInput("an integer overflows 64 bits"))
    }
}

/// Clamps to the range of an integer type.
pub(super) fn clamp_to(elem: ElemType, data: Vec<i128>) -> Vec<i128> {
    let (low, high) = int_range(elem);
    data.into_iter().map(|x| x.clamp(low, high)).collect()
}

/// Returns the minimum and maximum of an integer type.
pub fn int_range(elem: ElemType) -> (i128, i128) {
    let bits = elem.bits().unwrap_or(64).min(64);
    match elem.is_signed_integer() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// Rounds once. On some processors, `f16::from_f64` rounds to `f32` first, or drops low bits.
fn round_f16(x: f64) -> f16 {
    f16::from_bits(Format::F16.encode(x, false) as u16)
}

fn round_bf16(x: f64) -> bf16 {
    bf16::from_bits(Format::BF16.encode(x, false) as u16)
}
