//! What is open: of which numbers the specification does not say what an operator makes of them, or runtimes do not
//! keep to what it says. Nothing of it is computed beforehand, so that what runs is what it was.

use super::convert::int_range;
use super::{Array, Val};
use crate::graph::ElemType;
use crate::schema::operator::{Carry, Operator, Work, operator};

/// Beyond it, integers come together as doubles, through which runtimes sum and multiply.
const DOUBLE: f64 = ((1u64 << f64::MANTISSA_DIGITS) - 1) as f64;
/// The same of `float`.
const FLOAT: f64 = ((1u64 << f32::MANTISSA_DIGITS) - 1) as f64;

/// Whether an operator converts between numbers and their quantized form.
///
/// Runtimes fuse such nodes with the operators around them into integer kernels, whose results differ from those of the
/// separate nodes. A constant in the place of one takes the kernel away, so that constant folding stops at it.
pub fn is_quantization(op: &str) -> bool {
    matches!(op, "QuantizeLinear" | "DequantizeLinear" | "DynamicQuantizeLinear")
}

/// Returns true if the result of an operator on these inputs must not be folded into a constant.
pub fn is_open<'v>(domain: &str, op: &str, inputs: impl IntoIterator<Item = &'v Val>) -> bool {
    is_quantization(op) || is_undetermined(domain, op, inputs)
}

/// Returns true if the specification, or runtimes among each other, leave open what an operator makes of these inputs.
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

/// Where elements are compared, summed or interpolated, what comes of infinities and NaN is open, and of what cannot
/// be squared: in a sum of squares, some take out the largest first.
fn is_told(array: &Array, op: &str, known: Operator) -> bool {
    let holds = |holds: &dyn Fn(&f64) -> bool| array.f64s().is_ok_and(|all| all.iter().all(holds));
    match (known.work, op) {
        (_, "DynamicQuantizeLinear" | "Det") => holds(&|x| x.is_finite()),
        // Where it smooths halves, ONNX Runtime has other numbers than of floats, by more than rounding.
        (_, "Resize") if array.elem() == ElemType::Float16 => false,
        (_, "Sign" | "ScatterElements" | "ScatterND") => holds(&|x| !x.is_nan()),
        (Work::Reduction | Work::Product, _) => {
            let is_squared = known.carry != Carry::Exact;
            let limit = if is_squared { largest(array.elem()).sqrt() } else { f64::MAX };
            // What is masked by minus infinity, or nearly, has no part in the sum, and is not the greatest: all agree.
            let is_masked = matches!(op, "Softmax" | "Attention" | "ReduceMax");
            holds(&|x| x.abs() <= limit || is_masked && *x < 0.0)
        }
        _ => true,
    }
}

/// The greatest number of the type that sums of this type are computed in.
fn largest(elem: ElemType) -> f64 {
    if elem == ElemType::Double { f64::MAX } else { f64::from(f32::MAX) }
}

/// Of nothing, ONNX Runtime keeps sizes of axes that are reduced, and leaves sums unset.
fn is_of_nothing(arrays: &[Option<&Array>], known: Operator) -> bool {
    let operands = match known.work {
        Work::Reduction => 1,
        Work::Product => 2,
        _ => 0,
    };
    arrays.iter().take(operands).flatten().any(|array| array.is_empty())
}

/// Integers that do not come through the floating-point numbers in which ONNX Runtime computes, or whose sum or
/// product leaves their type: there it stops at the end of the range, where others begin at the other end.
fn is_beyond_integers(op: &str, arrays: &[&Array]) -> bool {
    let Some(first) = arrays.first().filter(|array| array.elem().is_integer()) else { return false };
    match op {
        "ReduceSum" | "ReduceMean" | "ReduceL1" => beyond(first, sum),
        "ReduceL2" | "ReduceSumSquare" => beyond(first, |all| all.iter().map(|x| x * x).sum()),
        "ReduceProd" => beyond(first, |all| all.iter().map(|x| x.max(1.0)).product()),
        // A logarithm is no integer.
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

fn beyond(array: &Array, bound: impl Fn(&[f64]) -> f64) -> bool {
    sizes(array).is_some_and(|all| bound(&all) > limit(array.elem()))
}

/// The integers without their signs.
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

/// The greatest integer of a type that comes through a double.
fn limit(elem: ElemType) -> f64 {
    (int_range(elem).1 as f64).min(DOUBLE)
}
