//! What the specification leaves open: which number comes of infinities and NaN where elements are compared, added up
//! or interpolated. Runtimes differ there, so that nothing of it is computed beforehand.

use super::Val;
use crate::schema::operator::{Work, operator};

/// Whether it is open what an operator makes of these inputs.
pub fn is_open<'v>(domain: &str, op: &str, inputs: impl IntoIterator<Item = &'v Val>) -> bool {
    let Some(known) = operator(domain, op) else { return false };
    if matches!(known.work, Work::View | Work::Move | Work::Elementwise | Work::Control) {
        return false;
    }
    // What is masked by minus infinity has no part in the sum, and is not the greatest: all agree on that.
    let is_masked = matches!(op, "Softmax" | "Attention" | "ReduceMax");
    let is_told = |x: &f64| x.is_finite() || is_masked && *x == f64::NEG_INFINITY;
    inputs.into_iter().any(|val| !all(val, is_told))
}

/// Whether something holds of all elements, if they are floating-point numbers.
fn all(val: &Val, holds: impl FnMut(&f64) -> bool) -> bool {
    match val {
        Val::Tensor(array) if array.elem().is_float() => array.f64s().is_ok_and(|all| all.iter().all(holds)),
        _ => true,
    }
}
