//! Reasons why nodes are kept in float32.

use std::fmt;

/// Reason why a node is kept in float32; the first one that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeepReason {
    /// The operator does not support the type at this opset, or the conversion does not support the node.
    Type,
    /// The supported types of the operator are unknown.
    Operator,
    /// The type of an input or output is unknown, or differs between the calls of a function.
    Unknown,
    /// A constant, a value derived from constants, or a measured value is too large.
    Overflows,
    /// Results may be too large even for ordinary inputs: squares, exponentials, sums, derived values.
    Passes,
    /// The node adds to a constant so large that the addend would be lost.
    Absorbs,
    /// The node sums many elements, or an unknown number of elements.
    Sums,
    /// A small constant that prevents a division by zero would be lost.
    Tiny,
    /// The node computes with integers, few of which the type represents exactly.
    Counts,
    /// Inputs or outputs of the node derive from an explicit cast from a 16-bit type in the source model.
    Meant,
    /// The node computes image coordinates.
    Places,
    /// The node must have the dtype of a node or value that is kept in float32.
    Tied,
    /// Fewer casts are needed if the node is kept in float32.
    Around,
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeepReason::Type => "the operator at this opset, or the conversion, does not support the type",
            KeepReason::Operator => "the supported types of the operator are unknown",
            KeepReason::Unknown => "the type of an input or output is unknown",
            KeepReason::Overflows => {
                "a constant or measured value, or one derived from them, exceeds the range of the type"
            }
            KeepReason::Passes => {
                "values such as squares, exponentials or large sums may exceed the range of the type"
            }
            KeepReason::Absorbs => "values added to a large constant would be lost",
            KeepReason::Sums => "sums of many elements may exceed the range or precision of the type",
            KeepReason::Tiny => "a small constant that prevents division by zero would be lost",
            KeepReason::Counts => "the type represents few integers exactly",
            KeepReason::Meant => "its inputs or outputs derive from an explicit cast to float32",
            KeepReason::Places => "image coordinates need more precision",
            KeepReason::Tied => "a connected sequence or optional is kept in float32",
            KeepReason::Around => "converting it would need more casts",
        })
    }
}
