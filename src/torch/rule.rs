//! Identities of the rules that look at traces.

use crate::diag::{Finding, Level, Place};

/// A rule's code, its name and the level it has unless a detector knows better.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub code: &'static str,
    pub name: &'static str,
    pub level: Level,
}

impl Rule {
    pub const fn new(code: &'static str, name: &'static str, level: Level) -> Self {
        Rule { code, name, level }
    }

    /// The same rule, saying something less or more certain.
    pub const fn at_level(self, level: Level) -> Self {
        Rule { level, ..self }
    }

    pub fn finding(&self, message: impl Into<String>, place: Place) -> Finding {
        Finding::new(self.code, self.name, self.level, message, place)
    }
}
