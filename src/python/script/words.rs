//! Lists of words, written as texts.

/// Returns true if a list, whose words are separated by spaces, has a word.
pub fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}
