//! Which rules are meant, by code, prefix of codes, or `ALL`.

/// What is selected and what is ignored. The longest word that a code begins with decides; between
/// words of one length, ignoring wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    select: Vec<String>,
    ignore: Vec<String>,
}

/// The word for every code.
const ALL: &str = "ALL";

impl Selection {
    /// `select` and `ignore` hold codes (`EXP001`), their prefixes (`EXP`) and `ALL`; names of rules have
    /// to be resolved to their codes before.
    pub fn new(select: Vec<String>, ignore: Vec<String>) -> Self {
        Selection { select, ignore }
    }

    /// Every code.
    pub fn all() -> Self {
        Selection::new(vec![ALL.to_owned()], Vec::new())
    }

    /// No code at all.
    pub fn none() -> Self {
        Selection::new(Vec::new(), Vec::new())
    }

    /// Whether findings of the rule of this code are wanted.
    pub fn contains(&self, code: &str) -> bool {
        let selected = longest(&self.select, code);
        selected.is_some() && selected > longest(&self.ignore, code)
    }

    /// The same, but for these codes.
    pub fn ignoring(mut self, codes: impl IntoIterator<Item = String>) -> Self {
        self.ignore.extend(codes);
        self
    }

    /// Whether a code is ignored by name: not only for want of being selected.
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

/// Length of the longest of `words` that speaks of `code`; `ALL` has length 0.
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
    fn the_longest_word_decides() {
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
