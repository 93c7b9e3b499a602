//! Spelling suggestions ("did you mean …?").

use std::borrow::Cow;

/// Maximum length of a word that gets a suggestion.
/// A longer word is shortened in messages, and is not compared with candidates, because computing the edit
/// distance takes quadratic time.
const LONGEST_WORD: usize = 256;

/// Shortens a long word for use in a message.
pub fn shortened(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => Cow::Owned(format!("{}…", &word[..end])),
        None => Cow::Borrowed(word),
    }
}

/// Returns the closest candidate, if it is close enough; the first of equally close ones.
/// Ignores case. At most a third of the letters may differ; in a word of two letters, one may differ. A word
/// of one letter gets no suggestion.
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

/// Appends the closest candidate to `message` as a question.
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
    fn long_words_are_shortened_and_get_no_suggestion() {
        let long = "a".repeat(3_000_000);
        assert_eq!(closest(&long, [&*long]), None);
        assert_eq!(shortened(&long).chars().count(), LONGEST_WORD + 1);
        assert_eq!(shortened("severity"), "severity");
    }

    #[test]
    fn only_close_candidates_are_suggested() {
        let known = ["severity", "phase", "safety"];
        assert_eq!(closest("sevrity", known), Some("severity"));
        assert_eq!(closest("SAFETY", known), Some("safety"));
        assert_eq!(closest("message", known), None);
        assert_eq!(closest("ax", ["axs", "b"]), Some("axs"));
        assert_eq!(closest("q", ["p"]), None);
    }
}
