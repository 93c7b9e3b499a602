//! What there is to show findings on.

use super::excerpt::MAX_CHARS;

/// A terminal, or what stands in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether colours are written, as escape sequences of ANSI terminals.
    pub colour: bool,
    /// Columns of the terminal; `None` for what is no terminal, whose lines may be of any length.
    pub width: Option<usize>,
    /// Findings alone, without the line that counts them.
    pub quiet: bool,
}

/// Narrower terminals get lines that are too long.
const LEAST_WIDTH: usize = 40;

impl Look {
    /// Columns for text that begins at column `indent`.
    pub fn room(self, indent: usize) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(LEAST_WIDTH).saturating_sub(indent))
    }

    /// Columns for an excerpt that begins at column `indent`, and the signs that it was cut.
    pub fn excerpt(self, indent: usize) -> usize {
        self.room(indent + 2).min(MAX_CHARS)
    }
}

/// `text` in lines of at most `room` characters, broken between words; further lines begin with `indent` blanks.
pub fn wrapped(text: &str, room: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut width = 0;
        for word in paragraph.split_inclusive(' ') {
            let length = word.trim_end().chars().count();
            if width > 0 && width + length > room {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                width = 0;
            }
            line.push_str(word);
            width += word.chars().count();
        }
        lines.push(if room == usize::MAX { line } else { line.trim_end().to_owned() });
    }
    lines.join(&format!("\n{:indent$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("one  two\nthree", usize::MAX, 1), "one  two\n three");
        assert_eq!(wrapped("abcdefghij kl", 4, 0), "abcdefghij\nkl");
        assert_eq!(wrapped("", 4, 0), "");
    }
}
