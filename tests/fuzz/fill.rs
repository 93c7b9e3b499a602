//! Draws elements of tensors.

use onnx_lint::graph::ElemType;
use onnx_lint::infer::eval::{Array, int_range};

use crate::random::Random;

/// Kind of the elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Small numbers, positive and negative.
    Any,
    /// Floats with infinities, NaN and both zeros; integers with the ends of their range.
    Extreme,
    /// Above 0.
    Positive,
    /// Between 0 and 1.
    Unit,
    /// Integers that index an axis of this size; in a third of the tensors, some are negative.
    Index(usize),
    /// Integers from 1 to this number.
    UpTo(i64),
    /// Exactly these integers.
    Exactly(Vec<i64>),
}

const SPECIAL: [f64; 7] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0, 1.0, -1.0];

fn float(fill: &Fill, random: &mut Random) -> f64 {
    let number = random.between(-24, 24) as f64 / 8.0;
    match fill {
        Fill::Extreme if random.once_in(2) => random.of_these(SPECIAL),
        Fill::Positive => number.abs() + 0.125,
        Fill::Unit => number.abs() / 3.0,
        Fill::Index(size) => random.below(*size) as f64,
        Fill::UpTo(most) => random.between(1, *most) as f64,
        _ => number,
    }
}

fn int(fill: &Fill, elem: ElemType, is_signed: bool, random: &mut Random) -> i128 {
    let (low, high) = int_range(elem);
    match fill {
        Fill::Extreme if random.once_in(2) => random.of_these([low, high, low + 1, high - 1]),
        Fill::Positive => random.between(1, 3).into(),
        Fill::Unit => random.between(0, 1).into(),
        Fill::Index(size) => {
            let low = if is_signed { -(*size as i64) } else { 0 };
            random.between(low, *size as i64 - 1).into()
        }
        Fill::UpTo(most) => random.between(1, *most).into(),
        _ if low < 0 => random.between(-4, 4).into(),
        _ => random.between(0, 5).into(),
    }
}

/// Draws a tensor; returns `None` if it cannot be created.
pub fn array(elem: ElemType, shape: &[usize], fill: &Fill, random: &mut Random) -> Option<Array> {
    let (count, shape) = (shape.iter().product::<usize>(), shape.to_vec());
    if let Fill::Exactly(ints) = fill {
        let wide = ints.iter().map(|&int| i128::from(int)).collect();
        return Array::from_ints(elem, shape, wide).ok();
    }
    let is_signed = elem.is_signed_integer() && random.once_in(3);
    match elem {
        ElemType::Bool => Array::bools(shape, (0..count).map(|_| random.once_in(2)).collect()),
        ElemType::String => {
            let text = |random: &mut Random| random.of_these(["", "a", "bc", "A b", "é", "7"]);
            Array::strings(shape, (0..count).map(|_| text(random).as_bytes().to_vec()).collect())
        }
        _ if elem.is_integer() => {
            let ints = (0..count).map(|_| int(fill, elem, is_signed, random)).collect();
            Array::from_ints(elem, shape, ints)
        }
        _ => Array::from_f64s(elem, shape, (0..count).map(|_| float(fill, random)).collect()),
    }
    .ok()
}
