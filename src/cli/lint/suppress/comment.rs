//! `# onnx-lint: ignore[EXP001]: why` on a line of Python.

use crate::source::without_comment;

/// A comment that suppresses findings of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Codes, prefixes or names of rules.
    pub words: Vec<String>,
    /// Start column: 1-based, in characters.
    pub column: usize,
}

/// Parses the suppression at the end of a line.
pub fn comment(line: &str) -> Option<Comment> {
    let comment = &line[without_comment(line).len()..];
    let (before, rest) = comment.split_once("onnx-lint:")?;
    let rest = rest.trim_start().strip_prefix("ignore")?.trim_start().strip_prefix('[')?;
    let (words, _) = rest.split_once(']')?;
    let words = words.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
    let start = line.len() - comment.len() + before.rfind('#')?;
    Some(Comment { words: words.collect(), column: line[..start].chars().count() + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&[&str], usize)>) {
        let found = comment(line);
        let found = found
            .as_ref()
            .map(|found| (found.words.iter().map(String::as_str).collect::<Vec<_>>(), found.column));
        assert_eq!(found.as_ref().map(|(words, start)| (&words[..], *start)), expected, "{line}");
    }

    #[test]
    fn comments_are_found_at_the_end_of_lines() {
        check("    x = f(y)  # onnx-lint: ignore[EXP001]: static batch", Some((&["EXP001"], 15)));
        check("x  # noqa: E501  # onnx-lint: ignore[EXP, item-baked]", Some((&["EXP", "item-baked"], 18)));
        check("x  #onnx-lint:ignore[EXP001]", Some((&["EXP001"], 4)));
        check("x = \"# onnx-lint: ignore[EXP001]\"", None);
        check("x  # onnx-lint: ignore", None);
        check("x  # onnx-lint ignore[EXP001]", None);
    }
}
