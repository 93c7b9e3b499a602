//! A position in the text, and the few things that are read there.

/// Reads forward through a text, looking ahead no further than the statement it is in, so that reading
/// takes time linear in the text.
#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// The position, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes past `length` bytes of what has been looked at.
    pub fn skip(&mut self, length: usize) {
        self.at += length;
    }

    /// Returns to the start of a statement that could not be read.
    pub fn go_back_to(&mut self, start: usize) {
        self.at = start;
    }

    /// Goes past spaces and tabs, not past the end of the line.
    pub fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes past blanks and line ends.
    pub fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Goes past `text`, if it stands here.
    pub fn eat(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// The bytes from here on that `belongs` takes; may be empty.
    pub fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        // Multi-byte characters are taken or left as a whole by every `belongs` used: all non-ASCII or none.
        self.text.get(start..self.at).unwrap_or("")
    }

    /// The rest of the line; the cursor is then at the start of the next.
    pub fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        rest[..end].trim_end_matches('\r')
    }

    /// Everything that is left.
    pub fn take_all(&mut self) -> &'a str {
        let rest = self.rest();
        self.at = self.text.len();
        rest
    }

    /// A value's name, without its percent sign: `%x.1`, `%/fc/Gemm_output_0`, `%onnx::Gather_16`.
    pub fn value_name(&mut self) -> Option<&'a str> {
        if !self.eat("%") {
            return None;
        }
        let name =
            self.take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'(' | b')' | b'='));
        (!name.is_empty()).then_some(name)
    }

    /// The text up to one of `ends` that stands outside of all brackets and quotes. The cursor is left
    /// there. `None`, with the cursor unmoved, if a new statement begins first, or the text ends.
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

/// Position of the quote that closes the string opened at `start`; strings do not span lines.
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

/// Whether a line begins like a statement: `%name : type`, `return (`, `-> (`, `block0(`, `graph(`.
/// Constants that span lines hold none of these at the start of a line.
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
    fn balanced_text_ends_outside_of_brackets_and_quotes() {
        check("Float(2, 4, strides=[4, 1]), %b", b",", Some("Float(2, 4, strides=[4, 1])"));
        check(" 1  2 [ CPULongType{2} ]](", b"]", Some(" 1  2 [ CPULongType{2} ]"));
        check("\"a]\\\"b\"]", b"]", Some("\"a]\\\"b\""));
        check(" 1\n 2\n[ CPULongType{2} ]]", b"]", Some(" 1\n 2\n[ CPULongType{2} ]"));
        check("[1, 2\n  %4 : int = prim::Constant[value=1]()", b"]", None);
        check("1)", b"]", None);
        check("1", b"]", None);
    }

    #[test]
    fn names_of_values() {
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
