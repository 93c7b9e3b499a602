//! Selection of rules by code, prefix of codes, or `ALL`.

/// Selected and ignored rules.
/// The longest entry that matches a code decides whether the code is selected or ignored; in a tie, it is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    select: Vec<String>,
    ignore: Vec<String>,
}

/// Entry that matches every code.
const ALL: &str = "ALL";

impl Selection {
    /// Creates a selection from codes (`EXP001`), their prefixes (`EXP`) and `ALL`.
    /// Rule names must be resolved to codes first.
    pub fn new(select: Vec<String>, ignore: Vec<String>) -> Self {
        Selection { select, ignore }
    }

    /// Selects every code.
    pub fn all() -> Self {
        Selection::new(vec![ALL.to_owned()], Vec::new())
    }

    /// Selects no code.
    pub fn none() -> Self {
        Selection::new(Vec::new(), Vec::new())
    }

    /// Returns true if findings of this code are selected.
    pub fn contains(&self, code: &str) -> bool {
        let selected = longest(&self.select, code);
        selected.is_some() && selected > longest(&self.ignore, code)
    }

    /// Adds codes to ignore.
    pub fn ignoring(mut self, codes: impl IntoIterator<Item = String>) -> Self {
        self.ignore.extend(codes);
        self
    }

    /// Returns true if a code is explicitly ignored, rather than just not selected.
    pub fn ignores(&self, code: &str) -> bool {
        let ignored = longest(&self.ignore, code);
        ignored.is_some() && ignored >= longest(&self.select, code)
    }
}

impl Default for Selection {
    fn default() -> Self {
        Selection::all()
    }
}

/// Returns the length of the longest entry that matches `code`; `ALL` has length 0.
fn longest(words: &[String], code: &str) -> Option<usize> {
    let length = |word: &String| match word.as_str() {
        ALL => Some(0),
        word => code.starts_with(word).then_some(word.len()),
    };
    words.iter().filter_map(length).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(select: &[&str], ignore: &[&str], code: &str, expected: bool) {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let selection = Selection::new(words(select), words(ignore));
        assert_eq!(selection.contains(code), expected, "{select:?} {ignore:?} {code}");
    }

    #[test]
    fn longest_matching_entry_decides() {
        check(&["ALL"], &[], "EXP001", true);
        check(&["EXP"], &[], "SPC001", false);
        check(&["ALL"], &["EXP"], "EXP001", false);
        check(&["EXP001"], &["EXP"], "EXP001", true);
        check(&["EXP"], &["EXP001"], "EXP001", false);
        check(&["EXP001"], &["EXP001"], "EXP001", false);
        check(&["EXP"], &["ALL"], "EXP001", true);
        check(&[], &[], "EXP001", false);
    }
}
