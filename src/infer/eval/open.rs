//! Detects calls with undetermined results.
//!
//! A result is undetermined if the specification does not define it, or if runtimes deviate from the
//! specification. Calls with undetermined results are not constant-folded, so that the model keeps the
//! behavior of the runtime.

use super::convert::int_range;
use super::{Array, Val};
use crate::graph::ElemType;
use crate::schema::operator::{Carry, Operator, Work, operator};

/// Limit up to which all integers are exact in `double`, the accumulator type of some runtimes.
const DOUBLE: f64 = ((1u64 << f64::MANTISSA_DIGITS) - 1) as f64;
/// Limit up to which all integers are exact in `float`.
const FLOAT: f64 = ((1u64 << f32::MANTISSA_DIGITS) - 1) as f64;

/// Returns true if an operator quantizes or dequantizes a tensor.
///
/// Runtimes fuse quantization nodes with adjacent operators into integer kernels, whose results differ from
/// those of the separate nodes. Quantization nodes are not constant-folded, because a constant would prevent
/// the fusion.
pub fn is_quantization(op: &str) -> bool {
    matches!(op, "QuantizeLinear" | "DequantizeLinear" | "DynamicQuantizeLinear")
}

/// Returns true if the result of an operator on these inputs must not be folded into a constant.
pub fn is_open<'v>(domain: &str, op: &str, inputs: impl IntoIterator<Item = &'v Val>) -> bool {
    is_quantization(op) || is_undetermined(domain, op, inputs)
}

/// Returns true if the result of an operator on these inputs is undetermined.
///
/// Either the specification does not define the result, or runtimes compute different results.
pub fn is_undetermined<'v>(domain: &str, op: &str, inputs: impl IntoIterator<Item = &'v Val>) -> bool {
    let arrays = inputs.into_iter().map(|val| match val {
        Val::Tensor(array) => Some(&**array),
        _ => None,
    });
    let arrays: Vec<Option<&Array>> = arrays.collect();
    let tensors = || arrays.iter().flatten().copied();
    let is_finite = |array: &Array| array.f64s().is_ok_and(|all| all.iter().all(|x| x.is_finite()));
    if domain == "ai.onnx.ml" {
        return op == "Normalizer" && tensors().any(|array| beyond(array, sum) || !is_finite(array));
    }
    let Some(known) = operator(domain, op) else { return false };
    tensors().any(|array| array.elem().is_float() && !is_told(array, op, known))
        || is_of_nothing(&arrays, known)
        || is_beyond_integers(op, &tensors().collect::<Vec<_>>())
        || op == "OneHot"
            && arrays
                .first()
                .copied()
                .flatten()
                .is_some_and(|places| places.elem().is_float() && !is_finite(places))
}

/// Returns true if no element of a float input makes the result of `op` undetermined.
///
/// Runtimes differ in the results of comparisons, sums and interpolations of infinities and NaN. Runtimes
/// also differ in sums of squares that overflow: some runtimes factor out the largest element first.
fn is_told(array: &Array, op: &str, known: Operator) -> bool {
    let holds = |holds: &dyn Fn(&f64) -> bool| array.f64s().is_ok_and(|all| all.iter().all(holds));
    match (known.work, op) {
        (_, "DynamicQuantizeLinear" | "Det") => holds(&|x| x.is_finite()),
        // ONNX Runtime interpolates `float16` differently from `float`, by more than rounding.
        (_, "Resize") if array.elem() == ElemType::Float16 => false,
        (_, "Sign" | "ScatterElements" | "ScatterND") => holds(&|x| !x.is_nan()),
        (Work::Reduction | Work::Product, _) => {
            let is_squared = known.carry != Carry::Exact;
            let limit = if is_squared { largest(array.elem()).sqrt() } else { f64::MAX };
            // Runtimes agree on masked elements (large negative or -inf), which add nothing and are not the maximum.
            let is_masked = matches!(op, "Softmax" | "Attention" | "ReduceMax");
            holds(&|x| x.abs() <= limit || is_masked && *x < 0.0)
        }
        _ => true,
    }
}

/// Returns the largest number of the type in which sums of `elem` are accumulated.
fn largest(elem: ElemType) -> f64 {
    if elem == ElemType::Double { f64::MAX } else { f64::from(f32::MAX) }
}

/// Returns true if a reduction or product has an operand without elements.
///
/// For operands without elements, ONNX Runtime keeps the sizes of reduced axes and leaves sums uninitialized.
fn is_of_nothing(arrays: &[Option<&Array>], known: Operator) -> bool {
    let operands = match known.work {
        Work::Reduction => 1,
        Work::Product => 2,
        _ => 0,
    };
    arrays.iter().take(operands).flatten().any(|array| array.is_empty())
}

/// Returns true if the result for these integers may differ between runtimes.
///
/// ONNX Runtime computes these operators in floats, which round, and saturates on overflow; others wrap.
fn is_beyond_integers(op: &str, arrays: &[&Array]) -> bool {
    let Some(first) = arrays.first().filter(|array| array.elem().is_integer()) else { return false };
    match op {
        "ReduceSum" | "ReduceMean" | "ReduceL1" => beyond(first, sum),
        "ReduceL2" | "ReduceSumSquare" => beyond(first, |all| all.iter().map(|x| x * x).sum()),
        "ReduceProd" => beyond(first, |all| all.iter().map(|x| x.max(1.0)).product()),
        // A logarithm is generally not an integer, and runtimes round it differently.
        "ReduceLogSum" | "ReduceLogSumExp" => true,
        "Einsum" => {
            let sums = arrays.iter().filter_map(|array| sizes(array)).map(|all| sum(&all));
            sums.product::<f64>() > limit(first.elem())
        }
        "Mod" => arrays.iter().filter_map(|array| sizes(array)).flatten().any(|x| x > DOUBLE),
        "Shrink" => sizes(first).is_some_and(|all| all.iter().any(|&x| x > FLOAT)),
        "Pow" => {
            let exponents = arrays.get(1).and_then(|array| array.f64s().ok()).unwrap_or_default();
            let most = exponents.iter().fold(0.0f64, |most, &x| most.max(x));
            let is_double = exponents.iter().all(|x| x.abs() <= DOUBLE);
            !is_double || beyond(first, |all| all.iter().fold(0.0f64, |most, &x| most.max(x)).powf(most))
        }
        _ => false,
    }
}

/// Returns true if `bound`, applied to the absolute values of an integer tensor, exceeds [`limit`].
fn beyond(array: &Array, bound: impl Fn(&[f64]) -> f64) -> bool {
    sizes(array).is_some_and(|all| bound(&all) > limit(array.elem()))
}

/// Returns the absolute values of an integer tensor; `None` for non-integer types.
fn sizes(array: &Array) -> Option<Vec<f64>> {
    let is_integer = array.elem().is_integer();
    is_integer
        .then(|| array.ints().ok())
        .flatten()
        .map(|all| all.iter().map(|x| x.unsigned_abs() as f64).collect())
}

fn sum(all: &[f64]) -> f64 {
    all.iter().sum()
}

/// Returns the maximum of an integer type, but at most [`DOUBLE`].
fn limit(elem: ElemType) -> f64 {
    (int_range(elem).1 as f64).min(DOUBLE)
}
