//! Checks runtime values against the declared types of subgraph inputs and outputs.
//!
//! Some facts rely on declared types, and hold in successful runs only. For them to hold, a run that violates
//! a declaration must fail.

use crate::graph::{DeclaredDim, ElemType, Port, TypeKind};
use crate::infer::eval::Val;

/// Returns true unless a tensor contradicts the declared element type, rank or static sizes.
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
