//! Element types of tensors, numbered as in `TensorProto.DataType`.

use std::fmt;
use std::str::FromStr;

/// Element type of a tensor.
///
/// Discriminants are the numbers of `TensorProto.DataType` (ONNX IR 14). `Display` prints the names of ONNX
/// text (`float`, `int64`, `float8e4m3fn`, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ElemType {
    /// IEEE 754 single precision, 32 bits.
    Float = 1,
    /// Unsigned 8-bit integer.
    Uint8 = 2,
    /// Signed 8-bit integer.
    Int8 = 3,
    /// Unsigned 16-bit integer.
    Uint16 = 4,
    /// Signed 16-bit integer.
    Int16 = 5,
    /// Signed 32-bit integer.
    Int32 = 6,
    /// Signed 64-bit integer; the type of shapes, axes and most indices.
    Int64 = 7,
    /// Byte string of any length: UTF-8 by convention.
    String = 8,
    /// Boolean, one byte each: 0 or 1.
    Bool = 9,
    /// IEEE 754 half precision, 16 bits.
    Float16 = 10,
    /// IEEE 754 double precision, 64 bits.
    Double = 11,
    /// Unsigned 32-bit integer.
    Uint32 = 12,
    /// Unsigned 64-bit integer.
    Uint64 = 13,
    /// Complex number: two 32-bit floats.
    Complex64 = 14,
    /// Complex number: two 64-bit floats.
    Complex128 = 15,
    /// The upper 16 bits of a `float`: the range of `float`, 8 bits of precision.
    Bfloat16 = 16,
    /// 8-bit float: 4 exponent bits, 3 mantissa bits; NaN but no infinities.
    Float8e4m3fn = 17,
    /// Like `float8e4m3fn`, with a different bias and no negative zero.
    Float8e4m3fnuz = 18,
    /// 8-bit float: 5 exponent bits, 2 mantissa bits; NaN and infinities.
    Float8e5m2 = 19,
    /// Like `float8e5m2`, with a different bias and without infinities or negative zero.
    Float8e5m2fnuz = 20,
    /// Unsigned 4-bit integer; two per byte, the first in the low half.
    Uint4 = 21,
    /// Signed 4-bit integer, packed like `uint4`.
    Int4 = 22,
    /// 4-bit float: 2 exponent bits, 1 mantissa bit; no NaN or infinities. Packed like `uint4`.
    Float4e2m1 = 23,
    /// 8 exponent bits only; used for block scales.
    Float8e8m0 = 24,
    /// Unsigned 2-bit integer; four per byte, the first in the lowest bits.
    Uint2 = 25,
    /// Signed 2-bit integer, packed like `uint2`.
    Int2 = 26,
    /// 6-bit float: 2 exponent bits, 3 mantissa bits.
    Float6e2m3 = 27,
    /// 6-bit float: 3 exponent bits, 2 mantissa bits.
    Float6e3m2 = 28,
}

use ElemType::*;

impl ElemType {
    /// All element types, in numeric order.
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

    /// Returns the element type with this `TensorProto.DataType` number.
    /// Returns `None` for 0 (undefined) and for unknown numbers.
    pub fn from_number(number: i32) -> Option<Self> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// Returns the `TensorProto.DataType` number.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// Returns the name in ONNX text.
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

    /// Returns the width of an element in `raw_data`, in bits; `None` for strings.
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

    /// Returns true for signed and unsigned integers of any width; `bool` is not an integer.
    pub fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// Returns true for signed integers of any width.
    pub fn is_signed_integer(self) -> bool {
        matches!(self, Int2 | Int4 | Int8 | Int16 | Int32 | Int64)
    }

    /// Returns true for unsigned integers of any width; `bool` is not an integer.
    pub fn is_unsigned_integer(self) -> bool {
        matches!(self, Uint2 | Uint4 | Uint8 | Uint16 | Uint32 | Uint64)
    }

    /// Returns true for real floating-point types of any width.
    pub fn is_float(self) -> bool {
        !self.is_integer() && !matches!(self, String | Bool | Complex64 | Complex128)
    }

    /// Returns true for `float16` and `bfloat16`.
    pub fn is_half(self) -> bool {
        matches!(self, Float16 | Bfloat16)
    }

    /// Returns true for complex types.
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
    fn numbers_and_names_round_trip() {
        for elem in ElemType::ALL {
            assert_eq!(ElemType::from_number(elem.number()), Some(elem));
            assert_eq!(elem.name().parse(), Ok(elem));
        }
        for number in [-1, 0, 29, i32::MAX] {
            assert_eq!(ElemType::from_number(number), None);
        }
    }
}
