//! Edits of Python code.

use super::applicability::Applicability;

/// Position in a text: 1-based line and column, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column; an end is exclusive.
    pub column: u32,
}

/// Edit of Python code that resolves a finding, in the file of the finding's `source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Safe if the results in Python stay equal; unsafe if a type or a value may change.
    pub applicability: Applicability,
    /// Start of the replaced range.
    pub start: Position,
    /// End of the replaced range; equal to the start for an insertion.
    pub end: Position,
    /// Replacement; empty for a deletion.
    pub text: String,
}
