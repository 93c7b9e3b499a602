//! An open document of the editor.

use std::ops::Range;

use lsp_types::{Position, TextDocumentContentChangeEvent};

/// The current text in the editor, saved or not.
#[derive(Clone, Debug)]
pub struct Document {
    pub text: String,
    /// The document version of the editor.
    pub version: i32,
    /// Byte offsets of the line starts.
    lines: Vec<usize>,
}

impl Document {
    /// Returns a document as the editor opened it.
    pub fn new(text: String, version: i32) -> Self {
        let lines = line_starts(&text);
        Document { text, version, lines }
    }

    /// Applies changes of parts of the text or of the whole text.
    pub fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        for change in changes {
            match change.range {
                Some(range) => {
                    let bytes = self.offset(range.start)..self.offset(range.end);
                    self.text.replace_range(bytes.start..bytes.end.max(bytes.start), &change.text);
                }
                None => self.text = change.text,
            }
            self.lines = line_starts(&self.text);
        }
        self.version = version;
    }

    /// Returns a line (0-based) without its line break.
    pub fn line(&self, line: u32) -> Option<&str> {
        let start = *self.lines.get(line as usize)?;
        self.text[start..].lines().next().or(Some(""))
    }

    /// Returns the byte offset of a position, clamped to the end of its line. Positions count UTF-16 units.
    pub fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() };
        let line = self.line(position.line).unwrap_or("");
        start + byte_of(line, position.character)
    }

    /// Returns the position of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|&start| start <= offset).saturating_sub(1);
        let before = self.text.get(self.lines[line]..offset).unwrap_or("");
        Position::new(line as u32, before.encode_utf16().count() as u32)
    }

    /// Converts a range of bytes to a range of positions.
    pub fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// Returns the range of the whole text.
    pub fn whole(&self) -> lsp_types::Range {
        self.range(0..self.text.len())
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Returns the byte offset of a UTF-16 unit in a line.
fn byte_of(line: &str, unit: u32) -> usize {
    let mut units = 0;
    for (at, char) in line.char_indices() {
        if units >= unit {
            return at;
        }
        units += char.len_utf16() as u32;
    }
    line.len()
}

/// Returns the number of UTF-16 units of the first `chars` characters of a line.
pub fn units(line: &str, chars: usize) -> u32 {
    line.chars().take(chars).map(|char| char.len_utf16() as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(range: [u32; 4], text: &str) -> TextDocumentContentChangeEvent {
        let [line, from, last, to] = range;
        let range = lsp_types::Range::new(Position::new(line, from), Position::new(last, to));
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_count_in_utf_16() {
        let mut document = Document::new("a 𝒳 = 1\nb\n".to_owned(), 1);
        // 𝒳 takes two units.
        document.apply(vec![change([0, 2, 0, 4], "x"), change([1, 0, 1, 9], "c")], 2);
        assert_eq!(document.text, "a x = 1\nc\n");
        assert_eq!(document.version, 2);
    }

    #[test]
    fn positions_and_byte_offsets_are_converted_both_ways() {
        let document = Document::new("ä𝒳b\r\nc".to_owned(), 1);
        assert_eq!(document.offset(Position::new(0, 3)), 6);
        assert_eq!(document.position(6), Position::new(0, 3));
        assert_eq!(document.offset(Position::new(0, 99)), 7);
        assert_eq!(document.offset(Position::new(9, 0)), document.text.len());
        assert_eq!(document.position(document.text.len()), Position::new(1, 1));
    }
}
