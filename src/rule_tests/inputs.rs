//! Random inputs for a model: sizes for its dynamic dimensions, and elements.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{DeclaredDim, ElemType, Model, Port, TypeKind};
use crate::infer::eval::{Array, Val};
use indexmap::IndexMap;

use super::run::Unrunnable;

/// Sizes for dynamic dimensions: all equal, all distinct, and two that alternate.
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

/// Range of the random elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Floats of both signs, and integers 0 and 1, suitable as indices.
    Small,
    /// Positive floats, and integers from 1 to 3, suitable as sizes and divisors.
    Positive,
    /// Integers and floats of both signs.
    Signed,
    /// An int64 vector with one element per axis of the first output holds the shape of that output.
    /// Inputs of any other type or shape hold positive integers, or floats of both signs.
    Sizes,
    /// Floats include infinities, NaN and both zeros.
    Special,
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Numbers::Small => "small",
            Numbers::Positive => "positive",
            Numbers::Signed => "signed",
            Numbers::Sizes => "size",
            Numbers::Special => "special",
        })
    }
}

/// Formats inputs, sorted by name, such as `x = float[1] {-2.375}`.
pub fn text(inputs: &Inputs) -> String {
    let mut inputs: Vec<String> = inputs.iter().map(|(name, array)| format!("{name} = {array}")).collect();
    inputs.sort();
    inputs.join(", ")
}

/// All ranges of random elements.
pub const NUMBERS: [Numbers; 5] =
    [Numbers::Small, Numbers::Positive, Numbers::Signed, Numbers::Sizes, Numbers::Special];

/// Deterministic pseudorandom numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Returns a random multiple of 1/8, or a special number for [`Numbers::Special`].
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
            Numbers::Positive | Numbers::Sizes => i128::from(self.below(3)) + 1,
            Numbers::Signed | Numbers::Special => i128::from(self.below(9)) - 4,
        }
    }
}

/// Inputs by name.
pub type Inputs = FxHashMap<Arc<str>, Array>;

/// Set of inputs for one run.
pub struct Set {
    pub inputs: Inputs,
    pub numbers: Numbers,
    /// Sizes of the named dimensions of the inputs.
    bound: Bound,
}

type Bound = IndexMap<Arc<str>, usize>;

/// Returns all sets of inputs: every choice of sizes with every range of elements.
pub fn sets(model: &Model) -> Result<Vec<Set>, Unrunnable> {
    let choices = SIZES.iter().flat_map(|sizes| NUMBERS.map(|numbers| (sizes, numbers)));
    choices.enumerate().map(|(index, (sizes, numbers))| set(model, sizes, numbers, index as u64)).collect()
}

fn set(model: &Model, sizes: &[usize; 4], numbers: Numbers, seed: u64) -> Result<Set, Unrunnable> {
    let given =
        || model.graphs[model.main].inputs.iter().filter(|port| model.values[port.value].initial.is_none());
    let mut bound = Bound::new();
    let shapes: Vec<_> =
        given().map(|port| shape(model, port, sizes, &mut bound)).collect::<Result<_, _>>()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed << 32));
    let mut inputs = Inputs::default();
    for (port, (elem, shape)) in given().zip(shapes) {
        let sizes = declared_sizes(model, &bound)
            .filter(|sizes| numbers == Numbers::Sizes && elem == ElemType::Int64 && shape == [sizes.len()]);
        let array = match sizes {
            Some(sizes) => Array::i64s(shape, sizes).map_err(|_| ungenerated(elem))?,
            None => array(elem, shape, numbers, &mut random)?,
        };
        inputs.insert(model.values[port.value].name.clone(), array);
    }
    Ok(Set { inputs, numbers, bound })
}

/// Returns the declared shape of a tensor.
fn declared(port: &Port) -> Option<impl Iterator<Item = &DeclaredDim>> {
    match port.info.ty.as_ref().map(|ty| &ty.kind) {
        Some(TypeKind::Tensor { shape: Some(shape), .. }) => {
            Some(shape.iter().map(|dimension| &dimension.dim))
        }
        _ => None,
    }
}

/// Returns the size of a declared dimension: its number, or the size of its name in `bound`.
fn size(dim: &DeclaredDim, bound: &Bound) -> Option<i64> {
    match dim {
        DeclaredDim::Value(size) => Some(*size),
        DeclaredDim::Param(name) => bound.get(name).and_then(|&size| i64::try_from(size).ok()),
        DeclaredDim::Absent => None,
    }
}

/// Returns the sizes of the first output, if its declaration and `bound` determine all of them.
fn declared_sizes(model: &Model, bound: &Bound) -> Option<Vec<i64>> {
    declared(model.graphs[model.main].outputs.first()?)?.map(|dim| size(dim, bound)).collect()
}

impl Set {
    /// Returns true if the outputs have their declared sizes.
    /// Rules need not preserve models that violate their declarations.
    pub fn are_as_declared(&self, model: &Model, outputs: &[Val]) -> bool {
        let fits = |(port, output): (&Port, &Val)| {
            let (Val::Tensor(array), Some(mut dims)) = (output, declared(port)) else { return true };
            let same = |&found: &usize| {
                let wanted = dims.next().map(|dim| size(dim, &self.bound));
                wanted.is_some_and(|wanted| wanted.is_none_or(|wanted| i64::try_from(found) == Ok(wanted)))
            };
            array.shape().iter().all(same) && dims.next().is_none()
        };
        model.graphs[model.main].outputs.iter().zip(outputs).all(fits)
    }
}

/// Returns the element type and shape of an input, and binds new dimension names to the next sizes.
fn shape(
    model: &Model,
    port: &Port,
    sizes: &[usize; 4],
    bound: &mut Bound,
) -> Result<(ElemType, Vec<usize>), Unrunnable> {
    let name = || {
        let name = &model.values[port.value].name;
        Unrunnable::Inputs(format!("input `{name}` is not a tensor of known type and shape"))
    };
    let kind = port.info.ty.as_ref().map(|ty| &ty.kind);
    let Some(TypeKind::Tensor { elem: Some(elem), .. }) = kind else { return Err(name()) };
    let elem = ElemType::from_number(*elem).ok_or_else(name)?;
    let Some(dims) = declared(port) else { return Ok((elem, vec![2, 3])) };
    let bind = |dim: &DeclaredDim| match dim {
        DeclaredDim::Value(size) => usize::try_from(*size).map_err(|_| name()),
        DeclaredDim::Absent => Ok(sizes[1]),
        DeclaredDim::Param(param) => {
            let next = sizes[bound.len() % sizes.len()];
            Ok(*bound.entry(param.clone()).or_insert(next))
        }
    };
    Ok((elem, dims.map(bind).collect::<Result<_, _>>()?))
}

fn ungenerated(elem: ElemType) -> Unrunnable {
    Unrunnable::Inputs(format!("no inputs of type {elem} can be generated"))
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
    made.map_err(|_| ungenerated(elem))
}
