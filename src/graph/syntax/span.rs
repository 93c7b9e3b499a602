//! Byte spans of a text, and their lines and columns.

use std::ops::Range;
use std::sync::Arc;

use crate::diag::{Place, TextPlace};

/// A byte range of a text. Offsets above `u32::MAX` become `u32::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Returns the span of these byte offsets.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// Returns the span from the start of `self` to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end.max(self.start) }
    }

    /// Returns the byte offsets as a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns true if the span contains no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A source text that findings point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name, as shown in findings.
    pub file: Arc<str>,
    pub text: Arc<str>,
    /// Byte offset of each line start.
    lines: Arc<[u32]>,
    /// Whether the text is ASCII, so that every byte is a column.
    is_ascii: bool,
}

/// The line and column of a span, and its extent on that line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan<'s> {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
    /// Width in characters, at least 1.
    pub width: u32,
    /// Text of the line.
    pub text: &'s str,
}

impl Source {
    /// Returns the source of this file name and text.
    pub fn new(file: &str, text: &str) -> Self {
        let after_newline = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(after_newline);
        Source {
            file: Arc::from(file),
            text: Arc::from(text),
            lines: lines.map(|at| Span::new(at, at).start).collect(),
            is_ascii: text.is_ascii(),
        }
    }

    /// Returns the text of `span`; empty if out of range or inside a character.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns the place of `span`.
    pub fn place(&self, span: Span) -> Place {
        let LineSpan { line, column, width, text } = self.line_span(span);
        Place::Text(TextPlace { line, column, width, text: Arc::from(text) })
    }

    /// Returns the line and column of the start of `span`, and its extent on that line.
    pub fn line_span(&self, span: Span) -> LineSpan<'_> {
        let line = self.lines.partition_point(|&start| start <= span.start).saturating_sub(1);
        let start = self.lines[line] as usize;
        let end = self.lines.get(line + 1).map_or(self.text.len(), |&next| next as usize - 1);
        let text = self.text[start..end].trim_end_matches('\r');
        let chars = |from: usize, to: usize| match self.is_ascii {
            true => to.min(text.len()).saturating_sub(from) as u32,
            false => text.char_indices().filter(|(at, _)| (from..to).contains(at)).count() as u32,
        };
        let (from, to) = (span.start as usize - start, (span.end as usize).saturating_sub(start));
        LineSpan { line: line as u32 + 1, column: chars(0, from) + 1, width: chars(from, to).max(1), text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: Span, line: u32, column: u32, width: u32) {
        let Place::Text(place) = Source::new("f", text).place(span) else { panic!("no text place") };
        assert_eq!((place.line, place.column, place.width), (line, column, width), "{text:?} {span:?}");
    }

    #[test]
    fn places_count_lines_and_characters() {
        check("ab\ncd", Span::new(3, 5), 2, 1, 2);
        check("äb cd\r\nx", Span::new(4, 6), 1, 4, 2);
        check("ab\ncd", Span::new(1, 5), 1, 2, 1);
        check("", Span::new(0, 0), 1, 1, 1);
        check("ab\n", Span::new(3, 3), 2, 1, 1);
    }
}
