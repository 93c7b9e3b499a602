//! Facts about the elements of a float value that follow from the operators that produce it.

use super::datum::Datum;
use super::host::Host;

/// Fact about all elements of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// None is negative; NaN is not negative.
    Nonnegative,
    /// Each is an element of a constant.
    OfConstants,
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
const NONNEGATIVE_OF_ALL: &[&str] = &["Add", "Div", "Max", "Mean", "Min", "Mul", "Sum"];
/// Maximum number of values that are examined.
const MAX_VALUES: usize = 64;

/// Returns true if the producers of a float value prove a fact about its elements.
pub fn are<H: Host>(host: &H, value: H::Value, fact: Elements) -> bool {
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
        if self.left == 0 || !known.elem().is_some_and(|elem| elem.is_float()) {
            return false;
        }
        self.left -= 1;
        match self.fact {
            _ if !known.is_const() => {
                let makers = self.host.producers(value);
                makers.into_iter().any(|(node, output)| output == 0 && self.proves(node))
            }
            Elements::Nonnegative => {
                self.host.constant(value).is_some_and(|elements| is_nonnegative(&elements))
            }
            Elements::OfConstants => true,
        }
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
        if fact == Elements::OfConstants {
            return false;
        }
        NONNEGATIVE.contains(&name)
            || NONNEGATIVE_OF_FIRST.contains(&name) && at(0)
            || NONNEGATIVE_OF_ALL.contains(&name) && (0..inputs.len()).all(&mut at)
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
