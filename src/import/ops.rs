//! Calls of ONNX operators that several lowerings make.

use super::builder::Builder;
use crate::graph::{AttrValue, Attribute, ElemType, Tensor, ValueId};

impl Builder<'_> {
    /// Adds an ONNX node without attributes, and returns its output.
    pub(super) fn call(&mut self, op: &str, inputs: &[ValueId]) -> ValueId {
        self.onnx(op, inputs.iter().copied().map(Some).collect(), Vec::new())
    }

    /// Casts a tensor.
    pub(super) fn cast(&mut self, value: ValueId, to: ElemType) -> ValueId {
        self.onnx("Cast", vec![Some(value)], vec![cast_to(to)])
    }

    /// Takes the elements `from..to` of the first axis.
    pub(super) fn sliced(&mut self, value: ValueId, from: i64, to: i64) -> ValueId {
        let [from, to, axis] = [from, to, 0].map(|number| self.constant(Tensor::int64s(vec![1], &[number])));
        self.call("Slice", &[value, from, to, axis])
    }

    /// Transposes a tensor.
    pub(super) fn swapped(&mut self, value: ValueId, perm: &[i64]) -> ValueId {
        let perm = Attribute::new("perm", AttrValue::Ints(perm.to_vec()));
        self.onnx("Transpose", vec![Some(value)], vec![perm])
    }

    /// Concatenates tensors along an axis.
    pub(super) fn joined(&mut self, parts: Vec<Option<ValueId>>, axis: i64) -> ValueId {
        self.onnx("Concat", parts, vec![Attribute::new("axis", AttrValue::Int(axis))])
    }
}

/// Returns the attribute of a Cast.
pub(super) fn cast_to(elem: ElemType) -> Attribute {
    Attribute::new("to", AttrValue::Int(i64::from(elem.number())))
}
