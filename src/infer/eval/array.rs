//! Dense tensors held in memory.

use super::buffer::map_buffer;
use super::{Buffer, Refusal, Result, bad};
use crate::graph::element::ElemType;

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

    /// A tensor of int64.
    pub fn i64s(shape: Vec<usize>, data: Vec<i64>) -> Result<Array> {
        Array::new(ElemType::Int64, shape, Buffer::I64(data))
    }

    /// A tensor of bools.
    pub fn bools(shape: Vec<usize>, data: Vec<bool>) -> Result<Array> {
        Array::new(ElemType::Bool, shape, Buffer::Bool(data))
    }

    /// A tensor of strings, which need not be UTF-8.
    pub fn strings(shape: Vec<usize>, data: Vec<Vec<u8>>) -> Result<Array> {
        Array::new(ElemType::String, shape, Buffer::Str(data))
    }

    /// The type of its elements.
    pub fn elem(&self) -> ElemType {
        self.elem
    }

    /// The sizes of its axes; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of its axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements.
    pub fn data(&self) -> &Buffer {
        &self.data
    }

    /// The elements of a tensor of bools; refused for any other.
    pub fn as_bools(&self) -> Result<&[bool]> {
        match &self.data {
            Buffer::Bool(v) => Ok(v),
            _ => bad("expected a tensor of booleans"),
        }
    }

    /// The elements of a tensor of strings; refused for any other.
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
    pub fn gathered(elem: ElemType, parts: &[&Array]) -> Result<Array> {
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
