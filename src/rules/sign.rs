//! Floats that cannot be negative, by the operators that produce them.

use super::datum::Datum;
use super::host::Host;

/// Operators without negative results.
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
/// Operators without negative results, if no element of their first input is negative.
const OF_FIRST: &[&str] = &[
    "AveragePool",
    "Cast",
    "DepthToSpace",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Identity",
    "LeakyRelu",
    "MaxPool",
    "ReduceMax",
    "ReduceMean",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];
/// Operators without negative results, if no element of any input is negative.
const OF_ALL: &[&str] = &["Add", "Concat", "Div", "Max", "Mean", "Min", "Mul", "Sum"];
/// Maximum number of values that are examined.
const MAX_VALUES: usize = 64;

/// Returns true if the operators that produce a float value prove that no element is negative; NaN is not negative.
pub fn is_nonnegative<H: Host>(host: &H, value: H::Value) -> bool {
    Search { host, left: MAX_VALUES }.is_nonnegative(value)
}

struct Search<'h, H> {
    host: &'h H,
    left: usize,
}

impl<H: Host> Search<'_, H> {
    fn is_nonnegative(&mut self, value: H::Value) -> bool {
        if self.left == 0 || !self.host.fact(value).elem().is_some_and(|elem| elem.is_float()) {
            return false;
        }
        self.left -= 1;
        match self.host.constant(value) {
            Some(elements) => is_at_least_zero(&elements),
            None => self.host.producers(value).into_iter().any(|(node, output)| output == 0 && self.proves(node)),
        }
    }

    /// Returns true if the first output of a node has no negative element.
    fn proves(&mut self, node: H::Node) -> bool {
        let Some(schema) = self.host.schema(node).filter(|schema| schema.domain.is_empty()) else { return false };
        let name = schema.name;
        if NONNEGATIVE.contains(&name) {
            return true;
        }
        let inputs = self.host.inputs(node);
        let least = self.host.attr(node, "min");
        let mut known = |index: usize| inputs.get(index).copied().flatten().is_some_and(|x| self.is_nonnegative(x));
        if OF_FIRST.contains(&name) {
            return known(0);
        }
        if OF_ALL.contains(&name) {
            return (0..inputs.len()).all(known);
        }
        name == "Clip" && (known(1) || least.is_some_and(|least| is_at_least_zero(&least)))
    }
}

fn is_at_least_zero(datum: &Datum) -> bool {
    match datum {
        Datum::Float(number) => *number >= 0.0,
        Datum::Int(number) => *number >= 0,
        Datum::List(items) => items.iter().all(is_at_least_zero),
        _ => false,
    }
}
