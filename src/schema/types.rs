//! Type sets: the type constraints of schemas.

use std::fmt;

use crate::graph::ElemType;

/// A set of types: for each type constructor, a bit set of element types.
///
/// Bit *n* is the element type with the number *n* in `TensorProto.DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet {
    /// Tensors.
    pub tensor: u32,
    /// Sequences of tensors.
    pub seq: u32,
    /// Optional tensors.
    pub optional: u32,
    /// Optional sequences of tensors.
    pub optional_seq: u32,
    /// Sparse tensors.
    pub sparse: u32,
    /// Other types, in the notation of the specification: `map(int64, float)`.
    pub others: &'static [&'static str],
}

/// Type of a value without its shape, as in the type constraints of schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    Tensor(ElemType),
    Sequence(ElemType),
    Optional(ElemType),
    OptionalSequence(ElemType),
    SparseTensor(ElemType),
}

impl fmt::Display for ValueType {
    /// Renders a tensor type as its element type, as in ONNX text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Tensor(elem) => elem.fmt(f),
            ValueType::Sequence(elem) => write!(f, "seq(tensor({elem}))"),
            ValueType::Optional(elem) => write!(f, "optional(tensor({elem}))"),
            ValueType::OptionalSequence(elem) => write!(f, "optional(seq(tensor({elem})))"),
            ValueType::SparseTensor(elem) => write!(f, "sparse_tensor({elem})"),
        }
    }
}

impl TypeSet {
    /// The empty set.
    pub(super) const EMPTY: TypeSet =
        TypeSet { tensor: 0, seq: 0, optional: 0, optional_seq: 0, sparse: 0, others: &[] };

    /// Returns true if a type is in the set.
    pub fn has(&self, ty: ValueType) -> bool {
        match ty {
            ValueType::Tensor(elem) => has(self.tensor, elem),
            ValueType::Sequence(elem) => has(self.seq, elem),
            ValueType::Optional(elem) => has(self.optional, elem),
            ValueType::OptionalSequence(elem) => has(self.optional_seq, elem),
            ValueType::SparseTensor(elem) => has(self.sparse, elem),
        }
    }

    /// Returns true if a tensor of this element type is in the set.
    pub fn has_tensor(&self, elem: ElemType) -> bool {
        self.has(ValueType::Tensor(elem))
    }
}

fn has(bits: u32, elem: ElemType) -> bool {
    bits & (1 << elem as u8) != 0
}

fn elems(bits: u32) -> impl Iterator<Item = ElemType> {
    ElemType::ALL.into_iter().filter(move |elem| has(bits, *elem))
}

impl fmt::Display for TypeSet {
    /// Renders `float, int64, seq(tensor(float))`, with tensor types as in ONNX text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = (elems(self.tensor).map(ValueType::Tensor))
            .chain(elems(self.seq).map(ValueType::Sequence))
            .chain(elems(self.optional).map(ValueType::Optional))
            .chain(elems(self.optional_seq).map(ValueType::OptionalSequence))
            .chain(elems(self.sparse).map(ValueType::SparseTensor));
        let mut names: Vec<String> = types.map(|ty| ty.to_string()).collect();
        names.extend(self.others.iter().map(|&other| other.to_owned()));
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_are_rendered_in_numeric_order() {
        let bits = |elems: &[ElemType]| elems.iter().fold(0, |set, elem| set | 1 << *elem as u8);
        let set = TypeSet {
            tensor: bits(&[ElemType::Int64, ElemType::Float]),
            seq: bits(&[ElemType::Bool]),
            others: &["map(int64, float)"],
            ..TypeSet::EMPTY
        };
        assert_eq!(set.to_string(), "float, int64, seq(tensor(bool)), map(int64, float)");
        assert!(set.has_tensor(ElemType::Float) && !set.has_tensor(ElemType::Bool));
    }
}
