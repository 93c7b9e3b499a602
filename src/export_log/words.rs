//! Parts of messages.

/// Returns the text after `mark`.
pub fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.find(mark).map(|at| &text[at + mark.len()..])
}

/// Returns the quoted text at the start of `text`, in `'`, `"` or backticks.
pub fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

/// Parses the number at the start of `text`.
pub fn number(text: &str) -> Option<u32> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the text up to the first whitespace.
pub fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}
