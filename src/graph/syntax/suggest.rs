//! "Did you mean …?"

use std::borrow::Cow;

/// Words of more bytes than this are compared with none: how far two are apart takes the product of their lengths.
const LONGEST_WORD: usize = 256;

/// A word as a message names it: of a long one the beginning.
pub fn shortened(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => Cow::Owned(format!("{}…", &word[..end])),
        None => Cow::Borrowed(word),
    }
}

/// The candidate that is closest to `word`, if it is close: case does not count, and at most a third of
/// the letters may be wrong (one of two). The first of equally close ones.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let wanted = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&candidate.to_lowercase(), &wanted);
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    let (distance, candidate) = scored.min_by_key(|(distance, _)| *distance)?;
    let letters = wanted.chars().count();
    (letters > 1 && distance * 3 <= letters.max(3)).then_some(candidate)
}

/// "1 argument", "2 arguments".
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `message`, and the closest candidate as a question.
pub fn with_suggestion<'c>(
    message: String,
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> String {
    match closest(word, candidates) {
        Some(candidate) => format!("{message}; did you mean `{candidate}`?"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_and_compared_with_none() {
        let long = "a".repeat(3_000_000);
        assert_eq!(closest(&long, [&*long]), None);
        assert_eq!(shortened(&long).chars().count(), LONGEST_WORD + 1);
        assert_eq!(shortened("severity"), "severity");
    }

    #[test]
    fn only_what_is_close_is_suggested() {
        let known = ["severity", "phase", "safety"];
        assert_eq!(closest("sevrity", known), Some("severity"));
        assert_eq!(closest("SAFETY", known), Some("safety"));
        assert_eq!(closest("message", known), None);
        assert_eq!(closest("ax", ["axs", "b"]), Some("axs"));
        assert_eq!(closest("q", ["p"]), None);
    }
}
