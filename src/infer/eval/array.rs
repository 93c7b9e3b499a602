//! Dense tensors held in memory.

use half::{bf16, f16};

use super::minifloat::Format;
use super::{Refusal, Result, bad};
use crate::graph::element::ElemType;

/// The elements of an [`Array`], in row-major order.
///
/// Types without a counterpart in Rust are kept unpacked, one code per byte: all integers below 8
/// bits (two's complement, the unused high bits zero) and all floats of 8 bits and fewer.
#[derive(Clone, Debug, PartialEq)]
pub enum Buffer {
    F32(Vec<f32>),
    F64(Vec<f64>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Bool(Vec<bool>),
    /// Bytes, as a model file may hold what is not UTF-8.
    Str(Vec<Vec<u8>>),
    /// Real and imaginary part.
    C64(Vec<[f32; 2]>),
    C128(Vec<[f64; 2]>),
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

/// Like `with_buffer!`, for an expression that is a vector of the same type: a buffer again.
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
    /// An empty buffer of the kind that holds this element type.
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

    /// Number of elements.
    pub fn len(&self) -> usize {
        with_buffer!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A dense tensor held in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    elem: ElemType,
    shape: Vec<usize>,
    data: Buffer,
}

impl Array {
    /// A tensor of these elements; refused if the buffer's type or length does not fit.
    pub fn new(elem: ElemType, shape: Vec<usize>, data: Buffer) -> Result<Array> {
        let count = super::shape::numel(&shape)?;
        let kind = Buffer::empty(elem);
        if data.len() != count || std::mem::discriminant(&kind) != std::mem::discriminant(&data) {
            return bad("the data do not fit the element type and shape");
        }
        Ok(Array { elem, shape, data })
    }

    pub fn i64s(shape: Vec<usize>, data: Vec<i64>) -> Result<Array> {
        Array::new(ElemType::Int64, shape, Buffer::I64(data))
    }

    pub fn bools(shape: Vec<usize>, data: Vec<bool>) -> Result<Array> {
        Array::new(ElemType::Bool, shape, Buffer::Bool(data))
    }

    pub fn strings(shape: Vec<usize>, data: Vec<Vec<u8>>) -> Result<Array> {
        Array::new(ElemType::String, shape, Buffer::Str(data))
    }

    /// Rounds to the element type: to nearest even for floats (too large becomes infinite, or the
    /// largest value where there is no infinity), towards zero for integers (too large is clamped,
    /// NaN is 0), non-zero is true for `bool`.
    pub fn from_f64s(elem: ElemType, shape: Vec<usize>, data: Vec<f64>) -> Result<Array> {
        use ElemType as E;
        let data = match elem {
            E::Float => Buffer::F32(data.into_iter().map(|x| x as f32).collect()),
            E::Double => Buffer::F64(data),
            E::Float16 => Buffer::F16(data.into_iter().map(round_f16).collect()),
            E::Bfloat16 => Buffer::Bf16(data.into_iter().map(round_bf16).collect()),
            E::Bool => Buffer::Bool(data.into_iter().map(|x| x != 0.0).collect()),
            E::String | E::Complex64 | E::Complex128 => return bad("not a real element type"),
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

    /// Keeps the low bits of each number, as two's complement arithmetic does.
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

    pub fn elem(&self) -> ElemType {
        self.elem
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub fn data(&self) -> &Buffer {
        &self.data
    }

    /// The elements as real numbers, exactly except for integers beyond 2⁵³; refused for strings
    /// and complex numbers.
    pub fn f64s(&self) -> Result<Vec<f64>> {
        macro_rules! widen {
            ($v:expr) => {
                $v.iter().map(|&x| x as f64).collect()
            };
        }
        Ok(match &self.data {
            Buffer::F32(v) => widen!(v),
            Buffer::F64(v) => v.clone(),
            Buffer::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
            Buffer::Bf16(v) => v.iter().map(|x| x.to_f64()).collect(),
            Buffer::Codes(v) if self.elem.is_float() => {
                let format = Format::of(self.elem).ok_or(Refusal::Unsupported)?;
                v.iter().map(|&code| format.decode(u32::from(code))).collect()
            }
            _ => widen!(self.ints()?),
        })
    }

    /// The elements as integers, `bool` as 0 and 1; refused for every other type.
    pub fn ints(&self) -> Result<Vec<i128>> {
        macro_rules! widen {
            ($v:expr) => {
                $v.iter().map(|&x| x as i128).collect()
            };
        }
        let sign = match self.elem {
            ElemType::Int4 => 8,
            ElemType::Int2 => 2,
            _ => 0,
        };
        Ok(match &self.data {
            Buffer::I8(v) => widen!(v),
            Buffer::I16(v) => widen!(v),
            Buffer::I32(v) => widen!(v),
            Buffer::I64(v) => widen!(v),
            Buffer::U8(v) => widen!(v),
            Buffer::U16(v) => widen!(v),
            Buffer::U32(v) => widen!(v),
            Buffer::U64(v) => widen!(v),
            Buffer::Bool(v) => widen!(v),
            Buffer::Codes(v) if self.elem.is_integer() => {
                v.iter().map(|&code| (i128::from(code) ^ sign) - sign).collect()
            }
            _ => return bad("expected a tensor of integers"),
        })
    }

    /// The elements as `i64`: shapes, axes, indices. Refused for other than integers and `bool`,
    /// and for what does not fit.
    pub fn as_i64s(&self) -> Result<Vec<i64>> {
        if let Buffer::I64(v) = &self.data {
            return Ok(v.clone());
        }
        let fits = self.ints()?.into_iter().map(i64::try_from).collect::<std::result::Result<_, _>>();
        fits.map_err(|_| Refusal::BadInput("an integer beyond 64 bits"))
    }

    pub fn as_bools(&self) -> Result<&[bool]> {
        match &self.data {
            Buffer::Bool(v) => Ok(v),
            _ => bad("expected a tensor of booleans"),
        }
    }

    pub fn as_strings(&self) -> Result<&[Vec<u8>]> {
        match &self.data {
            Buffer::Str(v) => Ok(v),
            _ => bad("expected a tensor of strings"),
        }
    }

    /// The same elements in the same order under another shape.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Array> {
        Array::new(self.elem, shape, self.data.clone())
    }

    /// The elements at these offsets, as a tensor of the given shape.
    pub fn take(&self, shape: Vec<usize>, offsets: &[usize]) -> Result<Array> {
        let out = Refusal::BadInput("an index is out of range");
        let data = map_buffer!(&self.data, v => {
            offsets.iter().map(|&i| v.get(i).cloned()).collect::<Option<_>>().ok_or(out)?
        });
        Array::new(self.elem, shape, data)
    }

    /// Like [`Array::take`]; `None` stands for the one element of `fill`, or zero without it.
    pub fn take_or(
        &self,
        shape: Vec<usize>,
        offsets: &[Option<usize>],
        fill: Option<&Array>,
    ) -> Result<Array> {
        let pool = match fill {
            Some(fill) => self.joined(fill)?,
            None => self.joined(&Array::zeros(self.elem, vec![1])?)?,
        };
        let offsets: Vec<_> = offsets.iter().map(|i| i.unwrap_or(self.len())).collect();
        pool.take(shape, &offsets)
    }

    /// All elements of `self`, then all of `other`, in one dimension.
    pub(super) fn joined(&self, other: &Array) -> Result<Array> {
        Array::gathered(self.elem, &[self, other])
    }

    /// The elements of several tensors of one type behind each other, in one dimension.
    pub(super) fn gathered(elem: ElemType, parts: &[&Array]) -> Result<Array> {
        let mut data = Buffer::empty(elem);
        for part in parts {
            macro_rules! append {
                ($($variant:ident)*) => {
                    match (&mut data, &part.data) {
                        $((Buffer::$variant(to), Buffer::$variant(from)) => to.extend_from_slice(from),)*
                        _ => return bad("element types differ"),
                    }
                };
            }
            if part.elem != elem {
                return bad("element types differ");
            }
            append!(F32 F64 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 Bool Str C64 C128 Codes);
        }
        Array::new(elem, vec![data.len()], data)
    }

    /// Zeros, `false` or empty strings.
    pub fn zeros(elem: ElemType, shape: Vec<usize>) -> Result<Array> {
        let count = super::shape::numel(&shape)?;
        let data =
            map_buffer!(Buffer::empty(elem), v => { let mut v = v; v.resize(count, Default::default()); v });
        Array::new(elem, shape, data)
    }
}

/// Clamps to the range of an integer type.
pub(super) fn clamp_to(elem: ElemType, data: Vec<i128>) -> Vec<i128> {
    let (low, high) = int_range(elem);
    data.into_iter().map(|x| x.clamp(low, high)).collect()
}

/// Least and greatest value of an integer type.
pub(super) fn int_range(elem: ElemType) -> (i128, i128) {
    let bits = elem.bits().unwrap_or(64).min(64);
    match elem.is_signed_integer() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// `half` drops the low bits of an `f64` before it rounds; this rounds once.
fn round_f16(x: f64) -> f16 {
    f16::from_bits(Format::F16.encode(x, false) as u16)
}

fn round_bf16(x: f64) -> bf16 {
    bf16::from_bits(Format::BF16.encode(x, false) as u16)
}
