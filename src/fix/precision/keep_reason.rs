//! Why a node stays float32.

use std::fmt;

/// Why a node stays float32: the first reason that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeepReason {
    /// Its operator has no such type at this opset.
    Type,
    /// Nobody knows which types its operator takes.
    Operator,
    /// The type of a value that it reads or makes is not known, or not the same in all calls of a function.
    Unknown,
    /// A constant, what comes of constants, or what was measured is too large.
    Overflows,
    /// What it computes of ordinary numbers may be too large: squares, exponentials, and what is made of them.
    Passes,
    /// It adds to a constant that is so large that what is added would be lost.
    Absorbs,
    /// It sums many elements, or nobody knows how many.
    Sums,
    /// A small number keeps it from dividing by zero, and would be lost.
    Tiny,
    /// It computes with integers, of which few are exact.
    Counts,
    /// The model casts to float32 for it.
    Meant,
    /// It computes places in an image.
    Places,
    /// Whatever it hands on, or shares a sequence with, stays.
    Tied,
    /// All around it stays: casts would only stand in between.
    Around,
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeepReason::Type => "the operator does not take the type at this opset",
            KeepReason::Operator => "nobody knows which types the operator takes",
            KeepReason::Unknown => "not all types around it are known",
            KeepReason::Overflows => "a constant, or what was measured, is too large for the type",
            KeepReason::Passes => "squares, exponentials or large sums of ordinary numbers may pass the type",
            KeepReason::Absorbs => "beside a large constant, what is added to it would be lost",
            KeepReason::Sums => "sums of many elements pass the type, or lose what is added last",
            KeepReason::Tiny => "a small number that keeps from dividing by zero would be lost",
            KeepReason::Counts => "few integers are exact in the type",
            KeepReason::Meant => "the model casts to float32 for it",
            KeepReason::Places => "places in an image need more digits",
            KeepReason::Tied => "a sequence or a body that it is tied to stays",
            KeepReason::Around => "all around it stays",
        })
    }
}
