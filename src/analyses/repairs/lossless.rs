//! Conversions that preserve values.

use half::bf16;

use crate::graph::ElemType;
use crate::infer::Fact;
use crate::torch::promotion::category;

/// Returns true for the types among which repairs cast: bool, and real numbers of at least 8 bits.
pub fn is_numeric(elem: ElemType) -> bool {
    let is_small = elem.bits().is_none_or(|bits| bits < 8);
    elem == ElemType::Bool || !is_small && !elem.is_complex() && elem != ElemType::String
}

/// Whether a constant keeps its numbers in another type, up to rounding to a float type.
///
/// The elements of large weights are not read, but are assumed to fit into every float type, and into no
/// other type.
pub fn fits(fact: &Fact, to: ElemType) -> bool {
    let Some(from) = fact.elem() else { return false };
    if from == to || category(from) == 0 {
        return true;
    }
    let Some(array) = fact.as_const() else { return to.is_float() };
    let Some((least, most)) = range(to) else { return false };
    if from.is_integer() && to.is_integer() {
        let ints = array.as_i64s();
        return ints.is_ok_and(|ints| {
            ints.iter().all(|&int| (least..=most).contains(&(int as f64)) && (int as f64) as i64 == int)
                || to == ElemType::Int64
        });
    }
    let keeps = |number: f64| {
        let is_within = (least..=most).contains(&number);
        if to.is_float() { is_within || !number.is_finite() } else { is_within && number.fract() == 0.0 }
    };
    array.f64s().is_ok_and(|numbers| numbers.into_iter().all(keeps))
}

/// Returns the minimum and maximum finite numbers of a type.
fn range(elem: ElemType) -> Option<(f64, f64)> {
    let unsigned = |bits: i32| (0.0, 2f64.powi(bits) - 1.0);
    let signed = |bits: i32| (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0);
    Some(match elem {
        ElemType::Float16 => (-65504.0, 65504.0),
        ElemType::Bfloat16 => (bf16::MIN.to_f64(), bf16::MAX.to_f64()),
        ElemType::Float => (f64::from(f32::MIN), f64::from(f32::MAX)),
        ElemType::Double => (f64::MIN, f64::MAX),
        ElemType::Int8 => signed(8),
        ElemType::Int16 => signed(16),
        ElemType::Int32 => signed(32),
        ElemType::Int64 => signed(64),
        ElemType::Uint8 => unsigned(8),
        ElemType::Uint16 => unsigned(16),
        ElemType::Uint32 => unsigned(32),
        ElemType::Uint64 => unsigned(64),
        _ => return None,
    })
}
