//! Compares outputs, with the accuracy that a transformation guarantees.

use onnx_lint::graph::ElemType;
use onnx_lint::infer::eval::{Array, Val};

/// Required accuracy of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whether outputs must be bit-exact, except for the payload of NaN.
    pub is_exact: bool,
    /// Whether elements may differ where either output is infinite or NaN.
    /// The specification does not define the results for infinities and NaN for every operator, so the
    /// outputs of equivalent graphs may differ.
    pub is_open_at_infinity: bool,
    /// Whether output shapes may differ: an unsafe fix preserves outputs only at the original input sizes.
    /// If the original sizes are unknown, a different output shape means that the run had other input sizes.
    pub is_at_any_size: bool,
}

/// Accuracy of equivalent computations.
/// Sums whose terms are added in different orders differ by rounding, and for infinities and NaN.
const ROUNDED: Claim = Claim { is_exact: false, is_open_at_infinity: true, is_at_any_size: false };
/// Bit-exact outputs.
pub const EXACT: Claim = Claim { is_exact: true, is_open_at_infinity: false, is_at_any_size: false };

/// Returns the difference between our evaluator and ONNX Runtime, if it exceeds rounding.
pub fn differs(ours: &Val, its: &Val) -> Option<String> {
    // Quantized elements may differ by one: the last digit of a scale may break a tie.
    let is_whole =
        matches!(ours, Val::Tensor(array) if array.elem().is_integer() && array.elem().bits() > Some(8));
    difference(ours, its, if is_whole { EXACT } else { ROUNDED })
}

/// Returns the difference between two values, if the claim does not allow it.
pub fn difference(wanted: &Val, found: &Val, claim: Claim) -> Option<String> {
    match (wanted, found) {
        (Val::Tensor(wanted), Val::Tensor(found)) => tensors_differ(wanted, found, claim),
        (Val::Sequence(wanted), Val::Sequence(found)) if wanted.len() == found.len() => {
            wanted.iter().zip(found).find_map(|(wanted, found)| difference(wanted, found, claim))
        }
        (Val::Optional(Some(wanted)), Val::Optional(Some(found))) => difference(wanted, found, claim),
        _ => (wanted != found).then(|| format!("{wanted:?} became {found:?}")),
    }
}

/// Returns the element type and shape of a tensor as text.
pub fn describe(array: &Array) -> String {
    format!("{}{:?}", array.elem(), array.shape())
}

fn tensors_differ(wanted: &Array, found: &Array, claim: Claim) -> Option<String> {
    if claim.is_at_any_size && wanted.elem() == found.elem() && wanted.shape() != found.shape() {
        return None;
    }
    if (wanted.elem(), wanted.shape()) != (found.elem(), found.shape()) {
        return Some(format!("{} became {}", describe(wanted), describe(found)));
    }
    if let (Ok(a), Ok(b)) = (wanted.ints(), found.ints()) {
        let limit = if claim.is_exact { 0 } else { 1 };
        let at = a.iter().zip(&b).position(|(a, b)| (a - b).abs() > limit)?;
        return Some(format!("element {at} was {} and is {}", a[at], b[at]));
    }
    let (Ok(a), Ok(b)) = (wanted.f64s(), found.f64s()) else {
        return (wanted != found).then(|| format!("{wanted:?} became {found:?}"));
    };
    let largest = a.iter().filter(|x| x.is_finite()).fold(1.0f64, |largest, x| largest.max(x.abs()));
    let allowed = if claim.is_exact { 0.0 } else { tolerance(wanted.elem()) * largest };
    let is_open = |a: f64, b: f64| claim.is_open_at_infinity && !(a.is_finite() && b.is_finite());
    let is_same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let is_close = |a: f64, b: f64| !claim.is_exact && (a - b).abs() <= allowed;
    let is_wrong = |(a, b): (&f64, &f64)| !is_same(*a, *b) && !is_close(*a, *b) && !is_open(*a, *b);
    let at = a.iter().zip(&b).position(is_wrong)?;
    Some(format!("element {at} was {:?} and is {:?}", a[at], b[at]))
}

/// Returns the relative tolerance for sums whose terms are added in another order.
pub fn tolerance(elem: ElemType) -> f64 {
    match elem {
        // Normalizations compute the mean and variance of doubles in float, according to `stash_type`.
        ElemType::Double => 1e-6,
        ElemType::Float => 1e-4,
        ElemType::Float16 => 1e-2,
        ElemType::Bfloat16 => 6e-2,
        _ => 0.25,
    }
}
