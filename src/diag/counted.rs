//! Counts in messages.

use std::fmt::Display;

/// Formats a count with its noun: "1 argument", "2 arguments".
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
