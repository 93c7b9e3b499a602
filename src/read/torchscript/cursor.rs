//! Position in a text, with operations to read from it.

/// Position in a text. Lookahead ends with the current statement, so parsing takes linear time.
#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a text.
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// Returns the position, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text after the position.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns true at the end of the text.
    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Returns the next byte, or `None` at the end of the text.
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Advances by `length` bytes.
    pub fn skip(&mut self, length: usize) {
        self.at += length;
    }

    /// Moves back to the start of a statement that could not be parsed.
    pub fn go_back_to(&mut self, start: usize) {
        self.at = start;
    }

    /// Skips spaces, tabs and carriage returns, but not line feeds.
    pub fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips spaces, tabs and line ends.
    pub fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Skips `text` if it is next; returns true if it was.
    pub fn eat(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// Reads the longest run of bytes for which `belongs` returns true; it may be empty.
    pub fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        // Every `belongs` in use accepts either all non-ASCII bytes or none, so characters are never split.
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Reads the rest of the line and moves to the start of the next one.
    pub fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        rest[..end].trim_end_matches('\r')
    }

    /// Reads the rest of the text.
    pub fn take_all(&mut self) -> &'a str {
        let rest = self.rest();
        self.at = self.text.len();
        rest
    }

    /// Reads a value name (`%x.1`, `%/fc/Gemm_output_0`, `%onnx::Gather_16`), without its percent sign.
    pub fn value_name(&mut self) -> Option<&'a str> {
        if !self.eat("%") {
            return None;
        }
        let name =
            self.take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'(' | b')' | b'='));
        (!name.is_empty()).then_some(name)
    }

    /// Reads up to the first of `ends` that is outside of all brackets and quotes.
    ///
    /// Returns `None` and does not move if a new statement starts or the text ends first, or if a bracket or
    /// quote has no partner.
    pub fn take_balanced(&mut self, ends: &[u8]) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = self.at;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                _ if depth == 0 && ends.contains(&byte) => {
                    let taken = &self.text[self.at..at];
                    self.at = at;
                    return Some(taken);
                }
                b'[' | b'(' | b'{' => depth += 1,
                b']' | b')' | b'}' => depth = depth.checked_sub(1)?,
                b'"' => at = end_of_string(bytes, at)?,
                b'\n' if begins_statement(&self.text[at + 1..]) => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// Returns the position of the quote that closes the string opened at `start`.
///
/// Strings do not span lines.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

/// Returns true if a line starts like a statement.
///
/// `%name : type`, `return (`, `-> (`, `block0(` and `graph(` start statements, but never a further line of a
/// constant that spans lines.
fn begins_statement(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.starts_with('%')
        || ["return (", "-> (", "block0(", "block1(", "graph(", "= prim::"]
            .iter()
            .any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, ends: &[u8], expected: Option<&str>) {
        let mut cursor = Cursor::new(text);
        assert_eq!(cursor.take_balanced(ends), expected, "{text}");
        assert_eq!(cursor.at(), expected.map_or(0, str::len), "{text}");
    }

    #[test]
    fn ends_within_brackets_and_quotes_are_skipped() {
        check("Float(2, 4, strides=[4, 1]), %b", b",", Some("Float(2, 4, strides=[4, 1])"));
        check(" 1  2 [ CPULongType{2} ]](", b"]", Some(" 1  2 [ CPULongType{2} ]"));
        check("\"a]\\\"b\"]", b"]", Some("\"a]\\\"b\""));
        check(" 1\n 2\n[ CPULongType{2} ]]", b"]", Some(" 1\n 2\n[ CPULongType{2} ]"));
        check("[1, 2\n  %4 : int = prim::Constant[value=1]()", b"]", None);
        check("1)", b"]", None);
        check("1", b"]", None);
    }

    #[test]
    fn value_names_are_read_without_percent_sign() {
        for (text, name) in [
            ("%x.1 : int", "x.1"),
            ("%/fc/Gemm_output_0,", "/fc/Gemm_output_0"),
            ("%onnx::Gather_16)", "onnx::Gather_16"),
        ] {
            assert_eq!(Cursor::new(text).value_name(), Some(name));
        }
        assert_eq!(Cursor::new("x").value_name(), None);
        assert_eq!(Cursor::new("% x").value_name(), None);
    }
}
