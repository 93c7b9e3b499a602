//! Faults: why a call of an operator cannot run.

use std::fmt;

use super::meet::Conflict;
use super::shape::Shape;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::schema::TypeSet;

/// Why a call cannot run, as far as its inputs' facts show. Inputs are given by position.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Two inputs must have one type, and do not.
    TypeMismatch {
        /// The type parameter that both have: `T`.
        param: &'static str,
        /// The two inputs.
        inputs: (usize, usize),
        /// What each of them has.
        elems: (ElemType, ElemType),
    },
    /// An input has an element type that this version of the operator does not take.
    TypeNotAllowed {
        /// The input.
        input: usize,
        /// What it has.
        elem: ElemType,
        /// What the operator takes there.
        allowed: &'static TypeSet,
    },
    /// The sizes of an axis of two inputs do not go together.
    SizeMismatch {
        /// The two inputs.
        inputs: (usize, usize),
        /// The axis of each, from 0.
        axes: (usize, usize),
        /// The size of each.
        dims: (Dim, Dim),
    },
    /// Two inputs whose shapes cannot be broadcast to one.
    NotBroadcastable {
        /// The two inputs.
        inputs: (usize, usize),
        /// The shape of each.
        shapes: (Shape, Shape),
    },
    /// An input has not the rank that the operator takes.
    Rank {
        /// The input.
        input: usize,
        /// The axes that it has.
        rank: usize,
        /// The axes that it should have.
        expected: Expected,
    },
    /// An axis that the input does not have.
    Axis {
        /// As written: a negative one counts from the end.
        axis: i64,
        /// The axes that there are.
        rank: usize,
    },
    /// A shape that does not have as many elements as the input.
    Elements {
        /// The input.
        input: usize,
        /// Its shape.
        from: Shape,
        /// The shape that it is to get.
        to: Shape,
    },
    /// The branches of an `If` do not agree.
    Branches {
        /// The output that they give.
        output: usize,
        /// In what they differ.
        what: Conflict,
    },
    /// What an iteration hands on is not what the next one takes.
    Carried {
        /// The input of the loop that the value starts from.
        input: usize,
        /// In what the two differ.
        what: Conflict,
    },
    /// An attribute (or an input that stands for one) has a value that cannot be.
    Value {
        /// The attribute, or the input as the specification calls it.
        name: &'static str,
        /// What is wrong with it, in half a sentence.
        why: &'static str,
    },
}

/// How many axes an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
    /// This many or fewer.
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
    /// The inputs that it is about.
    pub fn inputs(&self) -> Vec<usize> {
        match self {
            Fault::TypeMismatch { inputs: (a, b), .. }
            | Fault::SizeMismatch { inputs: (a, b), .. }
            | Fault::NotBroadcastable { inputs: (a, b), .. } => vec![*a, *b],
            Fault::TypeNotAllowed { input, .. }
            | Fault::Rank { input, .. }
            | Fault::Elements { input, .. }
            | Fault::Carried { input, .. } => vec![*input],
            Fault::Axis { .. } => vec![0],
            Fault::Branches { .. } | Fault::Value { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TypeMismatch { param, inputs: (a, b), elems: (x, y) } => {
                write!(f, "inputs {a} and {b} must both be of type {param}, but are {x} and {y}")
            }
            Fault::TypeNotAllowed { input, elem, allowed } => {
                write!(f, "input {input} is {elem}; allowed is {allowed}")
            }
            Fault::SizeMismatch { inputs: (a, b), axes: (i, j), dims: (m, n) } => {
                write!(f, "axis {i} of input {a} is {m}, but axis {j} of input {b} is {n}")
            }
            Fault::NotBroadcastable { inputs: (a, b), shapes: (x, y) } => {
                write!(f, "inputs {a} and {b} do not broadcast: {x} and {y}")
            }
            Fault::Rank { input, rank, expected } => {
                write!(f, "input {input} has rank {rank}, which must be {expected}")
            }
            Fault::Axis { axis, rank } => write!(f, "axis {axis} is out of range for rank {rank}"),
            Fault::Elements { input, from, to } => {
                write!(f, "input {input} of shape {from} has not as many elements as {to}")
            }
            Fault::Branches { output, what } => {
                write!(f, "the branches make output {output} differently: {what}")
            }
            Fault::Carried { input, what } => {
                write!(f, "input {input} is not what an iteration hands on: {what}")
            }
            Fault::Value { name, why } => write!(f, "`{name}` {why}"),
        }
    }
}
