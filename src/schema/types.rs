//! Sets of types, as the type constraints of schemas allow them.

use std::fmt;

use crate::graph::ElemType;

/// A set of types: for each way of building a type, the element types as a bit set.
///
/// Bit *n* stands for the element type whose number in `TensorProto.DataType` is *n*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet {
    pub tensor: u32,
    pub seq: u32,
    pub optional: u32,
    pub optional_seq: u32,
    pub sparse: u32,
    /// Anything else, as the specification writes it: `map(int64, float)`.
    pub others: &'static [&'static str],
}

/// The type of one value, as far as type constraints tell types apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    Tensor(ElemType),
    Sequence(ElemType),
    Optional(ElemType),
    OptionalSequence(ElemType),
    SparseTensor(ElemType),
}

impl fmt::Display for ValueType {
    /// A tensor by its element type alone, as in ONNX text.
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
    pub(super) const EMPTY: TypeSet =
        TypeSet { tensor: 0, seq: 0, optional: 0, optional_seq: 0, sparse: 0, others: &[] };

    pub fn has(&self, ty: ValueType) -> bool {
        match ty {
            ValueType::Tensor(elem) => has(self.tensor, elem),
            ValueType::Sequence(elem) => has(self.seq, elem),
            ValueType::Optional(elem) => has(self.optional, elem),
            ValueType::OptionalSequence(elem) => has(self.optional_seq, elem),
            ValueType::SparseTensor(elem) => has(self.sparse, elem),
        }
    }

    /// Whether a tensor of this element type is in the set.
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
    /// `float, int64, seq(tensor(float))`: tensors by their element type alone, as in ONNX text.
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
    fn is_written_in_the_order_of_numbers() {
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
