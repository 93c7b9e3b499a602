//! Flow of control after a statement.

use super::value::Value;

/// Continuation after a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow<'t> {
    Next,
    Return(Value<'t>),
    Break,
    Continue,
}
