//! The analyses that are code: what `detect builtin::NAME` may name.

/// Their names, sorted.
pub const NAMES: &[&str] = &[];
