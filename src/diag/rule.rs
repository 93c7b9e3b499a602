//! Ids of built-in analyses.

use super::finding::{Finding, Level};
use super::place::Place;

/// Code, name and level of a built-in analysis, as on its page in `rules/lint/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleId {
    /// Code, such as `EXP001`.
    pub code: &'static str,
    /// Name, such as `baked-shape`.
    pub name: &'static str,
    /// Level of the rule; findings may have another level.
    pub level: Level,
}

impl RuleId {
    /// Returns a copy of the rule id with the level `level`.
    pub const fn at(self, level: Level) -> Self {
        RuleId { level, ..self }
    }

    /// Creates a finding of this rule.
    pub fn finding(self, message: impl Into<String>, place: Place) -> Finding {
        Finding::new(self.code, self.name, self.level, message, place)
    }

    /// Returns true if `name` identifies the rule in `detect builtin::…`, where `_` replaces `-`.
    pub fn is_builtin(self, name: &str) -> bool {
        let letter = |byte| if byte == b'-' { b'_' } else { byte };
        self.name.bytes().map(letter).eq(name.bytes())
    }
}
