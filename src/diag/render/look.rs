//! Display settings for findings.

use super::excerpt::MAX_CHARS;

/// Properties of the terminal or other output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether to use colors, as ANSI escape sequences.
    pub colour: bool,
    /// Width in columns; `None` if the output is not a terminal, so that lines may have any length.
    pub width: Option<usize>,
    /// Whether to omit the summary line, and the remark on unknown Python lines.
    pub quiet: bool,
}

/// Minimum width of the output, even if lines become longer than the terminal is wide.
const LEAST_WIDTH: usize = 40;

impl Look {
    /// Returns the columns available for text that begins at column `indent`.
    pub fn room(self, indent: usize) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(LEAST_WIDTH).saturating_sub(indent))
    }

    /// Returns the columns available for an excerpt at column `indent`, without the ellipses.
    pub fn excerpt(self, indent: usize) -> usize {
        self.room(indent + 2).min(MAX_CHARS)
    }
}

/// Wraps `text` to `room` characters between words; further lines are indented by `indent` blanks.
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
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("one  two\nthree", usize::MAX, 1), "one  two\n three");
        assert_eq!(wrapped("abcdefghij kl", 4, 0), "abcdefghij\nkl");
        assert_eq!(wrapped("", 4, 0), "");
    }
}
