//! Element buffers: one vector type per native element type.

use half::{bf16, f16};

use crate::graph::element::ElemType;

/// Elements of an array, in row-major order.
///
/// Types without a Rust counterpart are stored unpacked, one code per byte: integers below 8 bits (two's
/// complement, unused high bits zero) and floats of at most 8 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    /// `float`.
    F32(Vec<f32>),
    /// `double`.
    F64(Vec<f64>),
    /// `float16`.
    F16(Vec<f16>),
    /// `bfloat16`.
    Bf16(Vec<bf16>),
    /// `int8`.
    I8(Vec<i8>),
    /// `int16`.
    I16(Vec<i16>),
    /// `int32`.
    I32(Vec<i32>),
    /// `int64`.
    I64(Vec<i64>),
    /// `uint8`.
    U8(Vec<u8>),
    /// `uint16`.
    U16(Vec<u16>),
    /// `uint32`.
    U32(Vec<u32>),
    /// `uint64`.
    U64(Vec<u64>),
    /// `bool`.
    Bool(Vec<bool>),
    /// Byte strings, because a model file may contain invalid UTF-8.
    Str(Vec<Vec<u8>>),
    /// Real and imaginary parts, 32 bits each.
    C64(Vec<[f32; 2]>),
    /// Real and imaginary parts, 64 bits each.
    C128(Vec<[f64; 2]>),
    /// Codes of types without a Rust counterpart, one byte each.
    Codes(Vec<u8>),
}

/// Evaluates an expression with `$v` bound to the vector inside a buffer, whatever its type.
macro_rules! with_buffer {
    ($buffer:expr, $v:ident => $body:expr) => {
        with_buffer!(@each $buffer, $v => $body,
            F32 F64 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 Bool Str C64 C128 Codes)
    };
    (@each $buffer:expr, $v:ident => $body:expr, $($variant:ident)*) => {
        match $buffer { $(Buffer::$variant($v) => $body),* }
    };
}

/// Like `with_buffer!`, for an expression that returns a vector of the same type; returns a buffer.
macro_rules! map_buffer {
    ($buffer:expr, $v:ident => $body:expr) => {
        map_buffer!(@each $buffer, $v => $body,
            F32 F64 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 Bool Str C64 C128 Codes)
    };
    (@each $buffer:expr, $v:ident => $body:expr, $($variant:ident)*) => {
        match $buffer { $(Buffer::$variant($v) => Buffer::$variant($body)),* }
    };
}

impl Buffer {
    /// Creates an empty buffer for this element type.
    pub(super) fn empty(elem: ElemType) -> Buffer {
        use ElemType as E;
        match elem {
            E::Float => Buffer::F32(vec![]),
            E::Double => Buffer::F64(vec![]),
            E::Float16 => Buffer::F16(vec![]),
            E::Bfloat16 => Buffer::Bf16(vec![]),
            E::Int8 => Buffer::I8(vec![]),
            E::Int16 => Buffer::I16(vec![]),
            E::Int32 => Buffer::I32(vec![]),
            E::Int64 => Buffer::I64(vec![]),
            E::Uint8 => Buffer::U8(vec![]),
            E::Uint16 => Buffer::U16(vec![]),
            E::Uint32 => Buffer::U32(vec![]),
            E::Uint64 => Buffer::U64(vec![]),
            E::Bool => Buffer::Bool(vec![]),
            E::String => Buffer::Str(vec![]),
            E::Complex64 => Buffer::C64(vec![]),
            E::Complex128 => Buffer::C128(vec![]),
            _ => Buffer::Codes(vec![]),
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        with_buffer!(self, v => v.len())
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub(super) use map_buffer;
