//! Facts about the elements of a float value that follow from the operators that produce it.

use super::datum::Datum;
use super::host::Host;
use crate::graph::ElemType;
use crate::infer;

/// Fact about all elements of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// No element is negative; NaN is not negative.
    Nonnegative,
    /// Each element is a finite element of a constant.
    FiniteConstants,
}

/// Operators whose results are elements of their first input.
const MOVES: &[&str] = &[
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];
/// Operators whose first result is nonnegative.
const NONNEGATIVE: &[&str] = &[
    "Abs",
    "Exp",
    "HardSigmoid",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "Relu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Sqrt",
];
/// Operators whose first result is nonnegative if their first input is.
const NONNEGATIVE_OF_FIRST: &[&str] = &[
    "AveragePool",
    "Cast",
    "Dropout",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "LeakyRelu",
    "MaxPool",
    "ReduceMax",
    "ReduceMean",
];
/// Operators whose result is nonnegative if all inputs are.
const NONNEGATIVE_OF_ALL: &[&str] = &["Add", "Div", "Mean", "Min", "Mul", "Sum"];
/// Maximum number of values that are examined.
const MAX_VALUES: usize = 64;
/// Maximum number of elements of a weight that is read.
const MAX_ELEMENTS: usize = 1 << 20;

/// Returns true if the producers of a float value prove a fact about its elements.
pub fn are<H: Host>(host: &H, value: H::Value, fact: Elements) -> bool {
    host.look_further();
    Search { host, fact, left: MAX_VALUES }.holds(value)
}

struct Search<'h, H> {
    host: &'h H,
    fact: Elements,
    left: usize,
}

impl<H: Host> Search<'_, H> {
    fn holds(&mut self, value: H::Value) -> bool {
        let known = self.host.fact(value);
        let Some(elem) = known.elem().filter(|_| self.left > 0) else { return false };
        if self.fact == Elements::Nonnegative && (elem.is_unsigned_integer() || elem == ElemType::Bool) {
            return true;
        }
        if !elem.is_float() {
            return false;
        }
        self.left -= 1;
        if let Some(elements) = self.elements(value) {
            return elements.into_iter().all(|element| match self.fact {
                Elements::Nonnegative => element >= 0.0,
                Elements::FiniteConstants => element.is_finite(),
            });
        }
        let makers = self.host.producers(value);
        makers.into_iter().any(|(node, output)| output == 0 && self.proves(node))
    }

    /// Returns the elements of a constant; `None` if the elements are unknown or too many.
    fn elements(&self, value: H::Value) -> Option<Vec<f64>> {
        if let Some(array) = self.host.fact(value).as_const() {
            return array.f64s().ok();
        }
        let weight = self.host.weight(value)?;
        let is_small = weight.len().is_some_and(|len| len <= MAX_ELEMENTS);
        is_small.then(|| infer::array(weight)?.f64s().ok())?
    }

    /// Returns true if the fact holds for the first output of a node.
    fn proves(&mut self, node: H::Node) -> bool {
        let Some(schema) = self.host.schema(node).filter(|schema| schema.domain.is_empty()) else {
            return false;
        };
        let name = schema.name;
        let inputs = self.host.inputs(node);
        let least = self.host.attr(node, "min");
        let fact = self.fact;
        let mut at =
            |index: usize| inputs.get(index).copied().flatten().is_some_and(|value| self.holds(value));
        if MOVES.contains(&name) {
            return at(0);
        }
        if name == "Concat" {
            return (0..inputs.len()).all(at);
        }
        if fact == Elements::FiniteConstants {
            return false;
        }
        NONNEGATIVE.contains(&name)
            || NONNEGATIVE_OF_FIRST.contains(&name) && at(0)
            || NONNEGATIVE_OF_ALL.contains(&name) && (0..inputs.len()).all(&mut at)
            || name == "Max" && (0..inputs.len()).any(&mut at)
            || name == "Where" && at(1) && at(2)
            || name == "Clip" && (at(1) || least.is_some_and(|least| is_nonnegative(&least)))
    }
}

fn is_nonnegative(datum: &Datum) -> bool {
    match datum {
        Datum::Float(number) => *number >= 0.0,
        Datum::Int(number) => *number >= 0,
        Datum::List(items) => items.iter().all(is_nonnegative),
        _ => false,
    }
}
