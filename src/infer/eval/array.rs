//! Dense in-memory tensors.

use super::buffer::map_buffer;
use super::{Buffer, Refusal, Result, bad};
use crate::graph::element::ElemType;

/// A dense in-memory tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    elem: ElemType,
    shape: Vec<usize>,
    data: Buffer,
}

impl Array {
    /// Creates a tensor; fails if the buffer's type or length does not match.
    pub fn new(elem: ElemType, shape: Vec<usize>, data: Buffer) -> Result<Array> {
        let count = super::shape::numel(&shape)?;
        let kind = Buffer::empty(elem);
        if data.len() != count || std::mem::discriminant(&kind) != std::mem::discriminant(&data) {
            return bad("the data does not match the element type and shape");
        }
        Ok(Array { elem, shape, data })
    }

    /// Creates an int64 tensor.
    pub fn i64s(shape: Vec<usize>, data: Vec<i64>) -> Result<Array> {
        Array::new(ElemType::Int64, shape, Buffer::I64(data))
    }

    /// Creates a bool tensor.
    pub fn bools(shape: Vec<usize>, data: Vec<bool>) -> Result<Array> {
        Array::new(ElemType::Bool, shape, Buffer::Bool(data))
    }

    /// Creates a string tensor; strings need not be UTF-8.
    pub fn strings(shape: Vec<usize>, data: Vec<Vec<u8>>) -> Result<Array> {
        Array::new(ElemType::String, shape, Buffer::Str(data))
    }

    /// Returns the element type.
    pub fn elem(&self) -> ElemType {
        self.elem
    }

    /// Returns the shape; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Returns the elements.
    pub fn data(&self) -> &Buffer {
        &self.data
    }

    /// Returns the elements of a bool tensor; fails for other types.
    pub fn as_bools(&self) -> Result<&[bool]> {
        match &self.data {
            Buffer::Bool(v) => Ok(v),
            _ => bad("an input must be a bool tensor"),
        }
    }

    /// Returns the elements of a string tensor; fails for other types.
    pub fn as_strings(&self) -> Result<&[Vec<u8>]> {
        match &self.data {
            Buffer::Str(v) => Ok(v),
            _ => bad("an input must be a string tensor"),
        }
    }

    /// Returns a copy with another shape and the elements in unchanged order.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Array> {
        Array::new(self.elem, shape, self.data.clone())
    }

    /// Gathers the elements at these offsets into a tensor of the given shape.
    pub fn take(&self, shape: Vec<usize>, offsets: &[usize]) -> Result<Array> {
        let out = Refusal::BadInput("an index is out of range");
        let data = map_buffer!(&self.data, v => {
            offsets.iter().map(|&i| v.get(i).cloned()).collect::<Option<_>>().ok_or(out)?
        });
        Array::new(self.elem, shape, data)
    }

    /// Like [`Array::take`]; an offset `None` selects the single element of `fill`, or zero without `fill`.
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

    /// Concatenates the elements of `self` and `other` into a vector.
    pub(super) fn joined(&self, other: &Array) -> Result<Array> {
        Array::gathered(self.elem, &[self, other])
    }

    /// Concatenates the elements of tensors of one type into a vector.
    pub fn gathered(elem: ElemType, parts: &[&Array]) -> Result<Array> {
        let mut data = Buffer::empty(elem);
        for part in parts {
            macro_rules! append {
                ($($variant:ident)*) => {
                    match (&mut data, &part.data) {
                        $((Buffer::$variant(to), Buffer::$variant(from)) => to.extend_from_slice(from),)*
                        _ => return bad("the element types of the tensors differ"),
                    }
                };
            }
            if part.elem != elem {
                return bad("the element types of the tensors differ");
            }
            append!(F32 F64 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 Bool Str C64 C128 Codes);
        }
        Array::new(elem, vec![data.len()], data)
    }

    /// Creates a tensor of zeros, `false` or empty strings.
    pub fn zeros(elem: ElemType, shape: Vec<usize>) -> Result<Array> {
        let count = super::shape::numel(&shape)?;
        let data =
            map_buffer!(Buffer::empty(elem), v => { let mut v = v; v.resize(count, Default::default()); v });
        Array::new(elem, shape, data)
    }
}
