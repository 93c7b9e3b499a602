//! Excerpts of lines, without characters that would control a terminal.

use std::borrow::Cow;
use std::ops::Range;

/// Default maximum number of characters of an excerpt.
pub const MAX_CHARS: usize = 160;

/// Line, or the part of it around a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    /// Span in bytes of `text`; may be empty.
    pub span: Range<usize>,
}

impl Excerpt {
    /// Returns the part of `line` around `chars`, with at most `room` characters besides ellipses.
    pub fn around(line: &str, chars: Range<usize>, room: usize) -> Excerpt {
        let line: Vec<char> = line.trim_end().chars().collect();
        let start = chars.start.min(line.len());
        let end = chars.end.clamp(start, line.len());
        let window = window(line.len(), start, end, room);
        let mut text = String::new();
        if window.start > 0 {
            text.push('…');
        }
        let (mut from, mut to) = (text.len(), text.len());
        for at in window.clone() {
            if at == start {
                from = text.len();
            }
            text.push(visible_char(line[at]));
            if at < end {
                to = text.len();
            }
        }
        if start >= window.end {
            (from, to) = (text.len(), text.len());
        }
        if window.end < line.len() {
            text.push('…');
        }
        Excerpt { text, span: from..to.max(from) }
    }

    /// Like [`Excerpt::around`], for a span in bytes, which may exceed the line or split a character.
    pub fn around_bytes(line: &str, bytes: (u32, u32), room: usize) -> Excerpt {
        let chars = |byte: u32| line.char_indices().take_while(|(at, _)| *at < byte as usize).count();
        Excerpt::around(line, chars(bytes.0)..chars(bytes.1), room)
    }

    /// Like [`Excerpt::around`], for a 1-based column and a width in characters.
    /// If the column is 0 or outside of the line, the span is the line without indentation.
    pub fn at_column(line: &str, column: u32, width: u32, room: usize) -> Excerpt {
        let blanks = line.chars().take_while(|char| char.is_whitespace()).count();
        let whole = blanks..line.trim_end().chars().count();
        let start = (column as usize).wrapping_sub(1);
        // An error at the end of the line points one column past the end. A column beyond that one is not in this
        // line.
        if column == 0 || start > line.chars().count() {
            return Excerpt::around(line, whole, room);
        }
        Excerpt::around(line, start..start.saturating_add(width.max(1) as usize), room)
    }
}

/// Returns the characters to show of a line of length `len` with the span `start..end`.
/// If the line must be cut on the left, three eighths of the excerpt precede the span.
fn window(len: usize, start: usize, end: usize, room: usize) -> Range<usize> {
    if len <= room {
        return 0..len;
    }
    let from = if end <= room { 0 } else { start.saturating_sub(room * 3 / 8) };
    from..(from + room).min(len)
}

fn visible_char(char: char) -> char {
    if char.is_control() && char != '\t' { '\u{fffd}' } else { char }
}

/// Escapes all control characters: names in a model may contain any.
pub fn one_line(text: &str) -> Cow<'_, str> {
    visible(text, |char| char.is_control())
}

/// Escapes control characters except newlines.
pub fn lines(text: &str) -> Cow<'_, str> {
    visible(text, |char| char.is_control() && char != '\n')
}

fn visible(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let show = |char: char| match hidden(char) {
        true => char.escape_default().collect(),
        false => char.to_string(),
    };
    Cow::Owned(text.chars().map(show).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(excerpt: &Excerpt, meant: &str) {
        assert_eq!(&excerpt.text[excerpt.span.clone()], meant, "{excerpt:?}");
    }

    #[test]
    fn short_lines_are_not_cut() {
        check(&Excerpt::at_column("    y = f(x)", 9, 4, MAX_CHARS), "f(x)");
        check(&Excerpt::at_column("    y = f(x)", 0, 0, MAX_CHARS), "y = f(x)");
        check(&Excerpt::at_column("    y = f(x)", 90, 4, MAX_CHARS), "y = f(x)");
        check(&Excerpt::at_column("    y = f(", 11, 1, MAX_CHARS), "");
        check(&Excerpt::around_bytes("ä = B", (5, 6), MAX_CHARS), "B");
        check(&Excerpt::around_bytes("ä", (9, 12), MAX_CHARS), "");
        check(&Excerpt::around("", 0..1, MAX_CHARS), "");
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let line = format!("{}meant{}", "x".repeat(500), "y".repeat(500));
        let excerpt = Excerpt::around(&line, 500..505, MAX_CHARS);
        check(&excerpt, "meant");
        assert_eq!(excerpt.text.chars().count(), MAX_CHARS + 2);
        check(&Excerpt::around(&line, 0..2, MAX_CHARS), "xx");
        check(&Excerpt::around(&line, 998..1005, MAX_CHARS), "yyyyyyy");
    }

    #[test]
    fn control_characters_are_replaced_or_escaped() {
        assert_eq!(Excerpt::around("a\u{1b}[2Jb", 0..1, MAX_CHARS).text, "a\u{fffd}[2Jb");
        assert_eq!(one_line("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
        assert_eq!(lines("a\u{1b}\nb"), "a\\u{1b}\nb");
    }
}
