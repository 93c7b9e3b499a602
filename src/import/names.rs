//! Tables of operator names.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

/// A set of names, written as a text of words.
pub struct Names {
    text: &'static str,
    set: OnceLock<FxHashSet<&'static str>>,
}

impl Names {
    /// Returns the set of the words of a text.
    pub const fn new(text: &'static str) -> Self {
        Names { text, set: OnceLock::new() }
    }

    /// Returns true if a name is in the set.
    pub fn contains(&self, name: &str) -> bool {
        self.set.get_or_init(|| self.text.split_whitespace().collect()).contains(name)
    }
}
