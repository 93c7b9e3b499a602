//! An input or output of both models.

use crate::graph::{Dimension, Type, TypeKind, ValueId};

/// Input or output of both models.
#[derive(Clone, Debug)]
pub struct Pair {
    pub a: ValueId,
    pub b: ValueId,
    /// For an input, the type on which both models agree.
    pub ty: Option<Type>,
}

/// Returns the declared dimensions of a tensor type.
pub fn dims(ty: &Type) -> Option<&[Dimension]> {
    match &ty.kind {
        TypeKind::Tensor { shape, .. } => shape.as_deref(),
        _ => None,
    }
}
