//! The identity of a rule that code finds.

use super::finding::{Finding, Level};
use super::place::Place;

/// Code, name and level of a rule, as its page in `rules/lint/` says them; `build.rs` makes `known`
/// of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleId {
    /// `EXP001`.
    pub code: &'static str,
    /// `baked-shape`.
    pub name: &'static str,
    /// The level of its page. A single finding may be at a lower one, where less is proved.
    pub level: Level,
}

impl RuleId {
    /// The same rule where less is proved.
    pub const fn at(self, level: Level) -> Self {
        RuleId { level, ..self }
    }

    /// A finding of this rule.
    pub fn finding(self, message: impl Into<String>, place: Place) -> Finding {
        Finding::new(self.code, self.name, self.level, message, place)
    }

    /// Whether this is what its page names as `detect builtin::…`: its name, as an identifier.
    pub fn is_builtin(self, name: &str) -> bool {
        let letter = |byte| if byte == b'-' { b'_' } else { byte };
        self.name.bytes().map(letter).eq(name.bytes())
    }
}
