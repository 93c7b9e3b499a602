//! Inputs for a model: sizes for its free dimensions, and elements.

use std::collections::HashMap;
use std::sync::Arc;

use onnx_lint::graph::{DeclaredDim, ElemType, Model, Port, TypeKind};
use onnx_lint::infer::eval::Array;

use super::run::Unrunnable;

/// Sizes of the free dimensions: all alike, each another, and such as the examples of traced sizes have.
const SIZES: [[usize; 4]; 8] = [
    [2, 2, 2, 2],
    [3, 3, 3, 3],
    [1, 1, 1, 1],
    [5, 5, 5, 5],
    [2, 3, 5, 1],
    [3, 1, 2, 5],
    [2, 7, 2, 7],
    [5, 7, 5, 7],
];

/// From which numbers the elements are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Floats on both sides of 0, integers from 0 to 1: indices, as a rule.
    Small,
    /// Floats above 0, integers from 1 to 3: sizes and divisors.
    Positive,
    /// Integers on both sides of 0.
    Signed,
    /// Infinities, NaN and both zeros among the floats.
    Special,
}

pub const NUMBERS: [Numbers; 4] = [Numbers::Small, Numbers::Positive, Numbers::Signed, Numbers::Special];

/// Numbers that look random and are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// A multiple of 1/8 between -3 and 3.
    fn float(&mut self, numbers: Numbers) -> f64 {
        const SPECIAL: [f64; 6] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0, 1.0];
        let number = self.below(49) as f64 / 8.0 - 3.0;
        match numbers {
            Numbers::Special if self.below(2) == 0 => SPECIAL[self.below(6) as usize],
            Numbers::Positive => number.abs() + 0.125,
            _ => number,
        }
    }

    fn int(&mut self, numbers: Numbers) -> i128 {
        match numbers {
            Numbers::Small => i128::from(self.below(2)),
            Numbers::Positive => i128::from(self.below(3)) + 1,
            Numbers::Signed | Numbers::Special => i128::from(self.below(9)) - 4,
        }
    }
}

/// By name.
pub type Inputs = HashMap<Arc<str>, Array>;

/// All sets of inputs that are tried: at each choice of sizes, each choice of numbers.
pub fn sets(model: &Model) -> Result<Vec<(Inputs, Numbers)>, Unrunnable> {
    let mut sets = Vec::new();
    for (index, sizes) in SIZES.iter().enumerate() {
        for numbers in NUMBERS {
            let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (index as u64 + 1) << 32);
            let mut names: Vec<Arc<str>> = Vec::new();
            let mut inputs = Inputs::new();
            for port in &model.graphs[model.main].inputs {
                if model.values[port.value].initial.is_none() {
                    let (elem, shape) = shape(model, port, sizes, &mut names)?;
                    inputs.insert(
                        model.values[port.value].name.clone(),
                        array(elem, shape, numbers, &mut random)?,
                    );
                }
            }
            sets.push((inputs, numbers));
        }
    }
    Ok(sets)
}

/// The shape of an input, free dimensions bound by name: the n-th name to the n-th size.
fn shape(
    model: &Model,
    port: &Port,
    sizes: &[usize; 4],
    names: &mut Vec<Arc<str>>,
) -> Result<(ElemType, Vec<usize>), Unrunnable> {
    let name = || Unrunnable::Inputs(model.values[port.value].name.to_string());
    let kind = port.info.ty.as_ref().map(|ty| &ty.kind);
    let Some(TypeKind::Tensor { elem: Some(elem), shape }) = kind else { return Err(name()) };
    let elem = ElemType::from_number(*elem).ok_or_else(name)?;
    let Some(dims) = shape else { return Ok((elem, vec![2, 3])) };
    let mut bind = |dim: &DeclaredDim| match dim {
        DeclaredDim::Value(size) => usize::try_from(*size).map_err(|_| name()),
        DeclaredDim::Absent => Ok(sizes[1]),
        DeclaredDim::Param(param) => {
            let known = names.iter().position(|known| known == param);
            let place = known.unwrap_or_else(|| {
                names.push(param.clone());
                names.len() - 1
            });
            Ok(sizes[place % sizes.len()])
        }
    };
    let dims = dims.iter().map(|dimension| bind(&dimension.dim)).collect::<Result<_, _>>()?;
    Ok((elem, dims))
}

fn array(
    elem: ElemType,
    shape: Vec<usize>,
    numbers: Numbers,
    random: &mut Random,
) -> Result<Array, Unrunnable> {
    let count: usize = shape.iter().product();
    let made = match elem {
        ElemType::Bool => Array::bools(shape, (0..count).map(|_| random.below(2) == 1).collect()),
        ElemType::String => {
            let texts = ["", "a", "bc"].map(|text| text.as_bytes().to_vec());
            Array::strings(shape, (0..count).map(|_| texts[random.below(3) as usize].clone()).collect())
        }
        _ if elem.is_integer() => {
            Array::from_ints(elem, shape, (0..count).map(|_| random.int(numbers)).collect())
        }
        _ => Array::from_f64s(elem, shape, (0..count).map(|_| random.float(numbers)).collect()),
    };
    made.map_err(|_| Unrunnable::Inputs(elem.to_string()))
}
