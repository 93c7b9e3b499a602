//! A piece of Python in other words.

use super::finding::Applicability;

/// Where something begins or ends in a text: line and column from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based; the one behind the last character where something ends.
    pub column: u32,
}

/// What to write in the place of a piece of Python, after which a finding is no more.
///
/// The piece is of the file that the finding's `source` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Safe where the program computes what it did; unsafe where a type or a value may be another.
    pub applicability: Applicability,
    /// Where the piece begins.
    pub start: Position,
    /// Where it ends; its beginning where something is written in between.
    pub end: Position,
    /// What stands there instead; empty to take the piece away.
    pub text: String,
}
