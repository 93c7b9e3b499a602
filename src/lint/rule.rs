//! The identity of a builtin rule, as code refers to it.

use std::sync::Arc;

use crate::diag::{Finding, Level, Place};

/// Code, name and level of a rule whose page is `rules/FAMILY/NAME.rule`; a test holds the two together.
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
    pub const fn error(code: &'static str, name: &'static str) -> Self {
        RuleId { code, name, level: Level::Error }
    }

    pub const fn warning(code: &'static str, name: &'static str) -> Self {
        RuleId { code, name, level: Level::Warning }
    }

    pub const fn info(code: &'static str, name: &'static str) -> Self {
        RuleId { code, name, level: Level::Info }
    }

    pub const fn hint(code: &'static str, name: &'static str) -> Self {
        RuleId { code, name, level: Level::Hint }
    }

    /// The same rule where less is proved.
    pub const fn at(self, level: Level) -> Self {
        RuleId { level, ..self }
    }

    /// A finding of this rule about something that is no node: the file, a declaration.
    pub fn finding(self, message: impl Into<String>, place: Place) -> Finding {
        Finding::new(self.code, self.name, self.level, message, place)
    }

    /// The name that `detect builtin::…` has for it.
    pub fn builtin_name(self) -> Arc<str> {
        self.name.replace('-', "_").into()
    }
}
