//! Facts from declared types.

use super::fact::{Fact, TensorFact};
use super::shape::{Shape, Size};
use crate::graph::dim::Dim;
use crate::graph::{DeclaredDim, DeclaredShape, ElemType, Type, TypeKind};

/// Names that exporters write for unnamed dimensions.
/// If placeholders such as `?` became symbols, unrelated axes would wrongly have equal sizes.
const NO_NAMES: [&str; 4] = ["", "?", "-1", "None"];

/// Converts a declared type to a fact. `dim` returns the size of a declared axis.
/// Inside sequences, optionals and maps, `dim` is not called, and named sizes are unknown.
pub fn fact(ty: &Type, dim: &mut dyn FnMut(usize, &DeclaredDim) -> Size) -> Fact {
    let inner = |ty: &Option<Box<Type>>| {
        ty.as_ref().map_or(Fact::Unknown, |ty| fact(ty, &mut |_, dim| of_element(dim)))
    };
    match &ty.kind {
        TypeKind::Undefined => Fact::Unknown,
        TypeKind::Tensor { elem, shape } => Fact::Tensor(tensor(*elem, shape, dim)),
        TypeKind::SparseTensor { elem, shape } => Fact::SparseTensor(tensor(*elem, shape, dim)),
        TypeKind::Sequence(of) => Fact::sequence(inner(of)),
        TypeKind::Optional(of) => Fact::optional(inner(of)),
        TypeKind::Map { key, value } => {
            Fact::Map { key: key.and_then(ElemType::from_number), value: Box::new(inner(value)) }
        }
        TypeKind::Opaque { .. } => Fact::Opaque,
    }
}

/// Converts a declared type to a fact without named dimensions.
///
/// Named dimensions become unknown sizes, because another graph may use the same names for other sizes.
pub fn numbers(ty: &Type) -> Fact {
    fact(ty, &mut |_, dim| of_element(dim))
}

/// Returns the size of a declared dimension; `None` for an absent, negative or placeholder dimension.
pub fn size(dim: &DeclaredDim) -> Size {
    match dim {
        DeclaredDim::Value(value) => (*value >= 0).then(|| Dim::known(*value)),
        DeclaredDim::Param(text) if NO_NAMES.contains(&text.trim()) => None,
        DeclaredDim::Param(text) => Some(Dim::parse(text)),
        DeclaredDim::Absent => None,
    }
}

/// Returns the size of a declared dimension if it is a nonnegative number.
/// A named size is unknown: in the element type of a sequence, it may differ from element to element.
fn of_element(dim: &DeclaredDim) -> Size {
    match dim {
        DeclaredDim::Value(value) if *value >= 0 => super::shape::known(*value),
        _ => None,
    }
}

fn tensor(
    elem: Option<i32>,
    shape: &DeclaredShape,
    dim: &mut dyn FnMut(usize, &DeclaredDim) -> Size,
) -> TensorFact {
    let shape = shape.as_ref().map_or(Shape::UNKNOWN, |dims| {
        Shape::new(dims.iter().enumerate().map(|(axis, d)| dim(axis, &d.dim)).collect::<Vec<_>>())
    });
    TensorFact::new(elem.and_then(ElemType::from_number), shape)
}

/// Completes an inferred fact with the declared one.
/// If the elements of a sequence are inferred, their declared shapes are ignored: elements often differ even if
/// the declaration is uniform.
pub fn fill(inferred: Fact, declared: &Fact) -> Fact {
    let sizes = |a: &[Size], b: &[Size]| {
        let both = a.iter().zip(b).map(|(a, b)| a.clone().or_else(|| b.clone()));
        Shape::new(both.collect::<Vec<_>>())
    };
    let tensors = |inferred: TensorFact, declared: &TensorFact| TensorFact {
        elem: inferred.elem.or(declared.elem),
        shape: match (inferred.shape.dims(), declared.shape.dims()) {
            (None, _) => declared.shape.clone(),
            (Some(a), Some(b)) if a.len() == b.len() => sizes(a, b),
            _ => inferred.shape,
        },
        value: inferred.value,
    };
    match (inferred, declared) {
        (Fact::Unknown, declared) => declared.clone(),
        (Fact::Tensor(a), Fact::Tensor(b)) => Fact::Tensor(tensors(a, b)),
        (Fact::SparseTensor(a), Fact::SparseTensor(b)) => Fact::SparseTensor(tensors(a, b)),
        (Fact::Sequence(a), Fact::Sequence(b)) => {
            Fact::Sequence(a.map(|a| fill(a.clone(), &b.without_shapes())))
        }
        (Fact::Optional(a), Fact::Optional(b)) => Fact::optional(fill(*a, b)),
        (inferred, _) => inferred,
    }
}
