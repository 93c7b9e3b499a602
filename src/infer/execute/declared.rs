//! What a body declares of its inputs and outputs, held against what they are: a run in which that is not so is none
//! that anything has to be true of.

use crate::graph::{DeclaredDim, ElemType, Port, TypeKind};
use crate::infer::eval::Val;

/// Whether a value may be what a port declares: its element type, its rank, and the sizes that are numbers.
pub fn admits(port: &Port, val: &Val) -> bool {
    let (Some(ty), Val::Tensor(array)) = (&port.info.ty, val) else { return true };
    let TypeKind::Tensor { elem, shape } = &ty.kind else { return true };
    let elem = elem.and_then(ElemType::from_number);
    let size_fits = |(dim, &size): (&DeclaredDim, &usize)| match dim {
        DeclaredDim::Value(known) => usize::try_from(*known) == Ok(size),
        DeclaredDim::Param(_) | DeclaredDim::Absent => true,
    };
    let shape_fits = shape.as_ref().is_none_or(|shape| {
        let mut sizes = shape.iter().map(|dim| &dim.dim).zip(array.shape());
        shape.len() == array.rank() && sizes.all(size_fits)
    });
    elem.is_none_or(|elem| elem == array.elem()) && shape_fits
}
