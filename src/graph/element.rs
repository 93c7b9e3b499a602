//! Element types of tensors, as numbered by `TensorProto.DataType`.

use std::fmt;
use std::str::FromStr;

/// The type of one element of a tensor.
///
/// The discriminants are the numbers of `TensorProto.DataType` (ONNX IR 14); the names printed are
/// those of ONNX text (`float`, `int64`, `float8e4m3fn`, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ElemType {
    /// IEEE 754, 32 bits.
    Float = 1,
    /// Unsigned, 8 bits.
    Uint8 = 2,
    /// Signed, 8 bits.
    Int8 = 3,
    /// Unsigned, 16 bits.
    Uint16 = 4,
    /// Signed, 16 bits.
    Int16 = 5,
    /// Signed, 32 bits.
    Int32 = 6,
    /// Signed, 64 bits: that of shapes, axes and most indices.
    Int64 = 7,
    /// Bytes of any length, UTF-8 by convention.
    String = 8,
    /// Truth values, a byte each: 0 or 1.
    Bool = 9,
    /// IEEE 754, 16 bits.
    Float16 = 10,
    /// IEEE 754, 64 bits.
    Double = 11,
    /// Unsigned, 32 bits.
    Uint32 = 12,
    /// Unsigned, 64 bits.
    Uint64 = 13,
    /// A real and an imaginary part of 32 bits each.
    Complex64 = 14,
    /// A real and an imaginary part of 64 bits each.
    Complex128 = 15,
    /// The upper 16 bits of a `float`: as wide a range, 8 bits of precision.
    Bfloat16 = 16,
    /// 8 bits: 4 of exponent, 3 of mantissa; NaN, but no infinities.
    Float8e4m3fn = 17,
    /// As `float8e4m3fn`, with one zero, which has no sign, and another bias.
    Float8e4m3fnuz = 18,
    /// 8 bits: 5 of exponent, 2 of mantissa; NaN and infinities.
    Float8e5m2 = 19,
    /// 8 bits as 5 and 2, with NaN, one zero, which has no sign, and no infinities.
    Float8e5m2fnuz = 20,
    /// Unsigned, 4 bits, two in a byte, the first in the lower half.
    Uint4 = 21,
    /// Signed, 4 bits, packed as `uint4`.
    Int4 = 22,
    /// 4 bits: 2 of exponent, 1 of mantissa; neither NaN nor infinities. Packed as `uint4`.
    Float4e2m1 = 23,
    /// 8 bits of exponent and nothing else: the scales of blocks.
    Float8e8m0 = 24,
    /// Unsigned, 2 bits, four in a byte, the first in the lowest bits.
    Uint2 = 25,
    /// Signed, 2 bits, packed as `uint2`.
    Int2 = 26,
    /// 6 bits: 2 of exponent, 3 of mantissa.
    Float6e2m3 = 27,
    /// 6 bits: 3 of exponent, 2 of mantissa.
    Float6e3m2 = 28,
}

use ElemType::*;

impl ElemType {
    /// Every element type, in the order of its number.
    pub const ALL: [ElemType; 28] = [
        Float,
        Uint8,
        Int8,
        Uint16,
        Int16,
        Int32,
        Int64,
        String,
        Bool,
        Float16,
        Double,
        Uint32,
        Uint64,
        Complex64,
        Complex128,
        Bfloat16,
        Float8e4m3fn,
        Float8e4m3fnuz,
        Float8e5m2,
        Float8e5m2fnuz,
        Uint4,
        Int4,
        Float4e2m1,
        Float8e8m0,
        Uint2,
        Int2,
        Float6e2m3,
        Float6e3m2,
    ];

    /// The element type with this number of `TensorProto.DataType`; `None` for 0 (undefined) and
    /// for numbers that no release of ONNX has used.
    pub fn from_number(number: i32) -> Option<Self> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// The number of `TensorProto.DataType`.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// The name that ONNX text uses.
    pub fn name(self) -> &'static str {
        match self {
            Float => "float",
            Uint8 => "uint8",
            Int8 => "int8",
            Uint16 => "uint16",
            Int16 => "int16",
            Int32 => "int32",
            Int64 => "int64",
            String => "string",
            Bool => "bool",
            Float16 => "float16",
            Double => "double",
            Uint32 => "uint32",
            Uint64 => "uint64",
            Complex64 => "complex64",
            Complex128 => "complex128",
            Bfloat16 => "bfloat16",
            Float8e4m3fn => "float8e4m3fn",
            Float8e4m3fnuz => "float8e4m3fnuz",
            Float8e5m2 => "float8e5m2",
            Float8e5m2fnuz => "float8e5m2fnuz",
            Uint4 => "uint4",
            Int4 => "int4",
            Float4e2m1 => "float4e2m1",
            Float8e8m0 => "float8e8m0",
            Uint2 => "uint2",
            Int2 => "int2",
            Float6e2m3 => "float6e2m3",
            Float6e3m2 => "float6e3m2",
        }
    }

    /// Width of one element in bits, as packed in `raw_data`; `None` for strings.
    pub fn bits(self) -> Option<usize> {
        Some(match self {
            String => return None,
            Uint2 | Int2 => 2,
            Uint4 | Int4 | Float4e2m1 => 4,
            Float6e2m3 | Float6e3m2 => 6,
            Uint8 | Int8 | Bool => 8,
            Float8e4m3fn | Float8e4m3fnuz | Float8e5m2 | Float8e5m2fnuz | Float8e8m0 => 8,
            Uint16 | Int16 | Float16 | Bfloat16 => 16,
            Float | Int32 | Uint32 => 32,
            Double | Int64 | Uint64 | Complex64 => 64,
            Complex128 => 128,
        })
    }

    /// A signed or unsigned integer of any width. `bool` is not one.
    pub fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// A signed integer of any width.
    pub fn is_signed_integer(self) -> bool {
        matches!(self, Int2 | Int4 | Int8 | Int16 | Int32 | Int64)
    }

    /// An unsigned integer of any width. `bool` is not one.
    pub fn is_unsigned_integer(self) -> bool {
        matches!(self, Uint2 | Uint4 | Uint8 | Uint16 | Uint32 | Uint64)
    }

    /// A real floating-point type of any width.
    pub fn is_float(self) -> bool {
        !self.is_integer() && !matches!(self, String | Bool | Complex64 | Complex128)
    }

    /// A pair of a real and an imaginary part.
    pub fn is_complex(self) -> bool {
        matches!(self, Complex64 | Complex128)
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ElemType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|elem| elem.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for elem in ElemType::ALL {
            assert_eq!(ElemType::from_number(elem.number()), Some(elem));
            assert_eq!(elem.name().parse(), Ok(elem));
        }
        for number in [-1, 0, 29, i32::MAX] {
            assert_eq!(ElemType::from_number(number), None);
        }
    }
}
