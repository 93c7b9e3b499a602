//! A finding without its location.

use crate::diag::{Level, RuleId};

/// A finding without its location.
pub struct Words {
    /// Rule of the finding.
    pub rule: RuleId,
    /// Severity of the finding.
    pub level: Level,
    /// Message that states the fault.
    pub message: String,
    /// Note that states the reason.
    pub note: &'static str,
    /// Help that states a fix; empty if none is known.
    pub help: String,
}

/// Returns `code` in backticks, or `stand_in` if the code is unknown.
pub fn shown(code: &str, stand_in: &str) -> String {
    if code.is_empty() { stand_in.to_owned() } else { format!("`{code}`") }
}
