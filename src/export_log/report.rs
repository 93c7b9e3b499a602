//! A finding without its location.

use crate::diag::{Level, RuleId};

/// A finding without its location.
pub struct Words {
    /// Rule of the finding.
    pub rule: RuleId,
    /// Severity.
    pub level: Level,
    /// Fault.
    pub message: String,
    /// Reason.
    pub note: &'static str,
    /// Fix; empty if none is known.
    pub help: String,
}

/// Returns `code` in backticks, or `stand_in` if the code is unknown.
pub fn shown(code: &str, stand_in: &str) -> String {
    if code.is_empty() { stand_in.to_owned() } else { format!("`{code}`") }
}
