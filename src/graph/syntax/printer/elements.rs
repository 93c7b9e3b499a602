//! Printing of tensor elements.

use std::fmt::Display;

use crate::graph::syntax::number::{FloatText, write_float};
use crate::graph::{Deferred, DeferredField, ElemType, Tensor, TensorData};

use super::push_quoted;

/// Writes the first `limit` stored numbers or strings, with `separator` between them.
/// Types without a text format are written as bit patterns, as onnx's parser expects them.
/// Returns `false` for raw data of an unknown type or of strings, and for unavailable elements.
pub fn push_elements(out: &mut String, tensor: &Tensor, separator: &str, limit: usize) -> bool {
    let mut list = List { out, separator, limit, is_first: true };
    match &tensor.data {
        TensorData::Absent | TensorData::External(_) => {}
        TensorData::Raw(raw) => return push_raw(&mut list, tensor, raw),
        TensorData::Deferred(deferred) => return push_deferred(&mut list, tensor, deferred),
        TensorData::Floats(items) => list.floats(items.iter().copied()),
        TensorData::Doubles(items) => list.floats(items.iter().copied()),
        TensorData::Int32s(items) => list.all(items),
        TensorData::Int64s(items) => list.all(items),
        TensorData::Uint64s(items) => list.all(items),
        TensorData::Strings(items) => {
            for item in items.iter().take(limit) {
                list.separate();
                push_quoted(list.out, &String::from_utf8_lossy(item));
            }
        }
    }
    true
}

fn push_deferred(list: &mut List, tensor: &Tensor, deferred: &Deferred) -> bool {
    let Some(bytes) = deferred.bytes() else { return false };
    match deferred.field() {
        DeferredField::Raw => return push_raw(list, tensor, &bytes),
        DeferredField::Floats => list.floats(chunks(&bytes).map(f32::from_le_bytes)),
        DeferredField::Doubles => list.floats(chunks(&bytes).map(f64::from_le_bytes)),
    }
    true
}

fn push_raw(list: &mut List, tensor: &Tensor, raw: &[u8]) -> bool {
    use ElemType::*;
    let Some(elem) = tensor.elem() else { return false };
    match elem {
        Float | Complex64 => list.floats(chunks(raw).map(f32::from_le_bytes)),
        Double | Complex128 => list.floats(chunks(raw).map(f64::from_le_bytes)),
        Int8 => list.all(raw.iter().map(|&byte| byte as i8)),
        Int16 => list.all(chunks(raw).map(i16::from_le_bytes)),
        Int32 => list.all(chunks(raw).map(i32::from_le_bytes)),
        Int64 => list.all(chunks(raw).map(i64::from_le_bytes)),
        Uint16 | Float16 | Bfloat16 => list.all(chunks(raw).map(u16::from_le_bytes)),
        Uint32 => list.all(chunks(raw).map(u32::from_le_bytes)),
        Uint64 => list.all(chunks(raw).map(u64::from_le_bytes)),
        String => return false,
        Uint8 | Bool | Uint2 | Int2 | Uint4 | Int4 | Float4e2m1 | Float6e2m3 | Float6e3m2 | Float8e4m3fn
        | Float8e4m3fnuz | Float8e5m2 | Float8e5m2fnuz | Float8e8m0 => list.all(raw),
    }
    true
}

fn chunks<const N: usize>(raw: &[u8]) -> impl Iterator<Item = [u8; N]> {
    raw.as_chunks::<N>().0.iter().copied()
}

struct List<'o> {
    out: &'o mut String,
    separator: &'o str,
    limit: usize,
    is_first: bool,
}

impl List<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.out.push_str(self.separator);
        }
        self.is_first = false;
    }

    fn all<T: Display>(&mut self, items: impl IntoIterator<Item = T>) {
        for item in items.into_iter().take(self.limit) {
            self.separate();
            self.out.push_str(&item.to_string());
        }
    }

    fn floats<F: FloatText>(&mut self, items: impl IntoIterator<Item = F>) {
        self.all(items.into_iter().map(write_float));
    }
}
