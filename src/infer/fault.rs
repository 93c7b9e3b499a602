//! Faults: proved errors in calls of operators.

use std::fmt;

use super::meet::Conflict;
use super::shape::Shape;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::schema::TypeSet;

/// Error in a call, proved from its attributes and the facts of its inputs.
///
/// The call fails at run time, unless the branches of an `If` differ only in rank ([`Fault::Branches`]). Inputs
/// are identified by position.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Two inputs of one type parameter have different element types.
    TypeMismatch {
        /// Type parameter of both inputs, such as `T`.
        param: &'static str,
        /// The two inputs.
        inputs: (usize, usize),
        /// Element type of each input.
        elems: (ElemType, ElemType),
    },
    /// An input has an element type that this version of the operator does not support.
    TypeNotAllowed {
        /// The input.
        input: usize,
        /// Element type of the input.
        elem: ElemType,
        /// Types that the operator supports for this input.
        allowed: &'static TypeSet,
    },
    /// Two dimensions that must be equal differ.
    SizeMismatch {
        /// The two inputs.
        inputs: (usize, usize),
        /// Axis of each input, from 0.
        axes: (usize, usize),
        /// Size of each axis.
        dims: (Dim, Dim),
    },
    /// The shapes of two inputs do not broadcast.
    NotBroadcastable {
        /// The two inputs.
        inputs: (usize, usize),
        /// Shape of each input.
        shapes: (Shape, Shape),
    },
    /// An input has a rank that the operator does not support.
    Rank {
        /// The input.
        input: usize,
        /// Rank of the input.
        rank: usize,
        /// Rank that the operator requires.
        expected: Expected,
    },
    /// An axis is out of range.
    Axis {
        /// Axis as given; a negative one counts from the end.
        axis: i64,
        /// Number of axes.
        rank: usize,
    },
    /// The target shape of a reshape has a different element count than the input.
    Elements {
        /// The input.
        input: usize,
        /// Shape of the input.
        from: Shape,
        /// Target shape.
        to: Shape,
    },
    /// The branches of an `If` produce outputs of different kind, element type or rank.
    ///
    /// ONNX allows branch outputs of different ranks, but most users of the output accept a single rank.
    Branches {
        /// Output of the `If`.
        output: usize,
        /// Difference between the branches.
        what: Conflict,
    },
    /// The state of a loop changes in kind or element type between iterations.
    Carried {
        /// Index of the loop input that holds the initial state.
        input: usize,
        /// Difference between the states.
        what: Conflict,
    },
    /// An input has a shape that the constraints of the operator rule out.
    Shape {
        /// The input.
        input: usize,
        /// Shape of the input.
        shape: Shape,
        /// Constraint as written, such as `B [M]`.
        text: &'static str,
        /// Required shapes, such as `[] or [16]`, or `None` if a size in one of them is unknown.
        required: Option<String>,
    },
    /// An attribute or input violates a constraint of the operator.
    Constraint {
        /// Attribute or input, by its name in the specification.
        name: &'static str,
        /// Value of the attribute or input, or `None` if the value is unknown or long.
        is: Option<String>,
        /// Predicate that completes the message after the name, such as "must be positive".
        why: &'static str,
    },
    /// An attribute or input has an invalid value.
    Value {
        /// Attribute or input, by its name in the specification.
        name: &'static str,
        /// Predicate that completes the message after the name, such as "must be positive".
        why: &'static str,
    },
}

/// Rank that an operator requires of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this rank.
    Exactly(usize),
    /// This rank or a higher one.
    AtLeast(usize),
    /// This rank or a lower one.
    AtMost(usize),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Exactly(rank) => write!(f, "{rank}"),
            Expected::AtLeast(rank) => write!(f, "at least {rank}"),
            Expected::AtMost(rank) => write!(f, "at most {rank}"),
        }
    }
}

impl Fault {
    /// Returns the inputs that the fault concerns.
    pub fn inputs(&self) -> Vec<usize> {
        match self {
            Fault::TypeMismatch { inputs: (a, b), .. }
            | Fault::SizeMismatch { inputs: (a, b), .. }
            | Fault::NotBroadcastable { inputs: (a, b), .. } => vec![*a, *b],
            Fault::TypeNotAllowed { input, .. }
            | Fault::Rank { input, .. }
            | Fault::Elements { input, .. }
            | Fault::Shape { input, .. }
            | Fault::Carried { input, .. } => vec![*input],
            Fault::Axis { .. } => vec![0],
            Fault::Branches { .. } | Fault::Value { .. } | Fault::Constraint { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TypeMismatch { param, inputs: (a, b), elems: (x, y) } => {
                write!(f, "inputs {a} and {b} must have the same type ({param}), but are {x} and {y}")
            }
            Fault::TypeNotAllowed { input, elem, allowed } => {
                write!(f, "input {input} has unsupported type {elem}; supported: {allowed}")
            }
            Fault::SizeMismatch { inputs: (a, b), axes: (i, j), dims: (m, n) } => {
                write!(f, "axis {i} of input {a} is {m}, but axis {j} of input {b} is {n}")
            }
            Fault::NotBroadcastable { inputs: (a, b), shapes: (x, y) } => {
                write!(f, "inputs {a} and {b} do not broadcast: {x} and {y}")
            }
            Fault::Rank { input, rank, expected } => {
                write!(f, "input {input} has rank {rank}, but must have rank {expected}")
            }
            Fault::Axis { axis, rank } => write!(f, "axis {axis} is out of range for rank {rank}"),
            Fault::Elements { input, from, to } => {
                write!(f, "input {input} of shape {from} cannot be reshaped to {to}: element counts differ")
            }
            Fault::Branches { output, what } => {
                write!(f, "the branches produce different results for output {output}: {what}")
            }
            Fault::Carried { input, what } => {
                write!(f, "the loop state of input {input} changes between iterations: {what}")
            }
            Fault::Shape { input, shape, text, .. } => {
                write!(f, "input {input} has shape {shape}, but must have the shape in `{text}`")
            }
            Fault::Constraint { name, why, .. } => write!(f, "`{name}` {why}"),
            Fault::Value { name, why } => write!(f, "`{name}` {why}"),
        }
    }
}
