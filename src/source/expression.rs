//! Extraction of the expression in a line of Python, without the enclosing statement and the comment.

use std::ops::Range;

/// Keywords that are followed by the expression of their statement.
const KEYWORDS: [&str; 9] = ["return", "yield", "if", "elif", "while", "assert", "await", "raise", "with"];

/// Returns the character range of the main expression in a line of Python.
///
/// The range excludes the target of an assignment and a keyword such as `return`, but includes the target of
/// an in-place write. Returns `None` if the line has no expression, or if it ends an expression that began
/// on an earlier line.
pub fn expression(line: &str) -> Option<Range<usize>> {
    let chars: Vec<char> = line.chars().collect();
    let code = code(&chars)?;
    let mut start = (0..code.end).find(|&at| !chars[at].is_whitespace())?;
    if let Some(after) = code.assignment {
        start = after;
    } else if let Some(after) = KEYWORDS.iter().find_map(|word| after_word(&chars[..code.end], start, word)) {
        start = after;
    } else if let Some(after) = after_word(&chars[..code.end], start, "for") {
        let text: String = chars[after..code.end].iter().collect();
        let at = text.find(" in ")?;
        start = after + text[..at].chars().count() + " in ".len();
    }
    let start = (start..code.end).find(|&at| !chars[at].is_whitespace())?;
    (start < code.end).then_some(start..code.end)
}

/// Returns the character range from `start` to the end of the code in `line`.
///
/// Returns `None` if the range is empty, or if the line closes a bracket of an earlier line.
pub fn from_column(line: &str, start: usize) -> Option<Range<usize>> {
    let chars: Vec<char> = line.chars().collect();
    let end = code(&chars)?.end;
    (start < end).then_some(start..end)
}

/// Returns the line without its comment and trailing spaces.
pub fn without_comment(line: &str) -> &str {
    let chars: Vec<char> = line.chars().collect();
    let end = comment(&chars).unwrap_or(chars.len());
    let end = line.char_indices().nth(end).map_or(line.len(), |(at, _)| at);
    line[..end].trim_end()
}

/// Returns the position of the comment in a line.
fn comment(chars: &[char]) -> Option<usize> {
    let (mut quote, mut at) = (None, 0);
    while let Some(&char) = chars.get(at) {
        match (quote, char) {
            (Some(_), '\\') => at += 1,
            (Some(open), _) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '#') => return Some(at),
            (None, '"' | '\'') => quote = Some(char),
            (None, _) => {}
        }
        at += 1;
    }
    None
}

/// End of the code in a line, and position after its last assignment; both count characters.
struct Code {
    /// End of the code, without trailing spaces and the `:` that opens a block.
    end: usize,
    /// Position after the last `=` that assigns to a name or an attribute; in-place writes do not count.
    assignment: Option<usize>,
}

/// Scans a line; `None` if the line closes a bracket of an earlier line.
fn code(chars: &[char]) -> Option<Code> {
    let chars = &chars[..comment(chars).unwrap_or(chars.len())];
    let (mut depth, mut quote, mut end, mut assignment) = (0usize, None::<char>, 0, None);
    let mut at = 0;
    while at < chars.len() {
        let char = chars[at];
        match (quote, char) {
            (Some(_), '\\') => at += 1,
            (Some(open), _) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, '=') if depth == 0 => {
                let before = at.checked_sub(1).map_or(' ', |before| chars[before]);
                let compares =
                    chars.get(at + 1) == Some(&'=') || matches!(before, '=' | '!' | '<' | '>' | ':');
                // An in-place write (`x += 1`, `x[0] = y`) is kept as a whole.
                let writes = matches!(before, '+' | '-' | '*' | '/' | '%' | '@' | '&' | '|' | '^')
                    || chars[..at].iter().rev().find(|char| !char.is_whitespace()) == Some(&']');
                if !compares && !writes {
                    assignment = Some(at + 1);
                }
            }
            _ => {}
        }
        at = (at + 1).min(chars.len());
        if !char.is_whitespace() {
            end = at;
        }
    }
    let opens_block = end > 0 && chars[end - 1] == ':' && depth == 0 && assignment.is_none();
    if opens_block {
        end -= 1;
    }
    Some(Code { end, assignment })
}

/// Returns the position after `word` if that whole word is at `start`, and more text follows.
fn after_word(chars: &[char], start: usize, word: &str) -> Option<usize> {
    let end = start + word.len();
    let stands = chars.get(start..end)?.iter().copied().eq(word.chars());
    let ends = chars.get(end).is_some_and(|char| !char.is_alphanumeric() && *char != '_');
    (stands && ends).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let found = expression(line)
            .map(|range| line.chars().skip(range.start).take(range.len()).collect::<String>());
        assert_eq!(found.as_deref().unwrap_or("(none)"), expected, "{line}");
    }

    #[test]
    fn expression_excludes_statement_keywords_targets_and_comments() {
        check("        return x.reshape(2, 12)  # baked", "x.reshape(2, 12)");
        check("    y = x.view(n, -1)", "x.view(n, -1)");
        check("    a = b = f(x, axis=1)", "f(x, axis=1)");
        check("    padded += 2  # here", "padded += 2");
        check("    data[i, 1:3] = new", "data[i, 1:3] = new");
        check("    if x.sum() > 0:  # decided", "x.sum() > 0");
        check("    for t in range(x.shape[1]):", "range(x.shape[1])");
        check("    while x == y:", "x == y");
        check("    return {\"a#b\": x, 'c': y}", "{\"a#b\": x, 'c': y}");
        check("    x.add_(1)", "x.add_(1)");
        check("    returned(x)", "returned(x)");
        check("    x: Tensor = f(y)", "f(y)");
        check("    a, b = f(y)", "f(y)");
        check("    y = \"ü\\\"#\" + x  # ü", "\"ü\\\"#\" + x");
        check("    return f(", "f(");
        check("    if (n := x.shape[0]) > 1:", "(n := x.shape[0]) > 1");
    }

    #[test]
    fn lines_without_an_expression_return_none() {
        for line in ["", "    # only a comment", "        x, y), 3)", "    y ="] {
            check(line, "(none)");
        }
    }
}
