//! Lexer of ONNX text and rule files.
//!
//! Every punctuation character is a separate token; the grammars check that the characters of `=>` and `...`
//! are adjacent. A minus is a separate token, too: the grammar decides whether it begins a negative number.

use super::span::Span;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A letter or `_`, then letters, digits and `_`; includes keywords.
    Ident,
    /// Text between double quotes: an identifier or a string, depending on context.
    Quoted,
    Int,
    /// A number with a decimal point or an exponent.
    /// `inf` and `nan` are lexed as identifiers, which the parser accepts where it expects a number.
    Float,
    /// One ASCII punctuation character.
    Sign(u8),
    End,
}

/// A token: its kind and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// Lexical errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalFault {
    UnclosedString,
    UnknownCharacter,
}

/// Handling of line breaks in strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strings {
    /// Strings may contain line breaks.
    AnyLines,
    /// Strings end on their line, so an unterminated one is reported there.
    OneLine,
}

/// Splits a part of `text` into tokens, ending with [`TokenKind::End`].
/// Skips white space and comments (from `#` to the end of the line).
pub fn tokens(text: &str, part: Span, strings: Strings) -> (Vec<Token>, Vec<(LexicalFault, Span)>) {
    let text = text.get(..part.end as usize).unwrap_or(text);
    let mut lexer = Lexer { text, at: part.start as usize, strings, faults: Vec::new() };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let Some(kind) = lexer.next_kind() else { continue };
        tokens.push(Token { kind, span: Span::new(start, lexer.at) });
        if kind == TokenKind::End {
            return (tokens, lexer.faults);
        }
    }
}

/// Returns the text of a quoted token: `\` makes the next character literal.
pub fn unquoted(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => text.extend(chars.next()),
            '"' => break,
            char => text.push(char),
        }
    }
    text
}

/// Returns true if `text` can be written as an unquoted identifier.
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') && bytes.all(is_word)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

struct Lexer<'t> {
    text: &'t str,
    /// Byte offset of the next character.
    at: usize,
    strings: Strings,
    faults: Vec<(LexicalFault, Span)>,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&accept) {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            if self.byte(0) != Some(b'#') {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Returns `None` for an unknown character, which is reported and skipped.
    fn next_kind(&mut self) -> Option<TokenKind> {
        let Some(first) = self.byte(0) else { return Some(TokenKind::End) };
        Some(match first {
            b'"' => self.quoted(),
            b'0'..=b'9' => self.number(),
            byte if is_word(byte) => {
                self.skip_while(is_word);
                TokenKind::Ident
            }
            byte if byte.is_ascii_punctuation() => {
                self.at += 1;
                TokenKind::Sign(byte)
            }
            _ => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.faults.push((LexicalFault::UnknownCharacter, Span::new(self.at, self.at + width)));
                self.at += width;
                return None;
            }
        })
    }

    /// Reads a string; an unterminated one ends with its line, so that the rest is still read.
    fn quoted(&mut self) -> TokenKind {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' if self.strings == Strings::OneLine => break,
                b'"' => {
                    self.at = at + 1;
                    return TokenKind::Quoted;
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.skip_while(|byte| byte != b'\n');
        self.faults.push((LexicalFault::UnclosedString, Span::new(start, self.at)));
        TokenKind::Quoted
    }

    /// Reads digits, at most one decimal point (`..` is not one), and an exponent.
    fn number(&mut self) -> TokenKind {
        self.skip_while(|byte| byte.is_ascii_digit());
        let mut kind = TokenKind::Int;
        if self.byte(0) == Some(b'.') && self.byte(1) != Some(b'.') {
            kind = TokenKind::Float;
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
        let exponent = self.byte(1 + sign).is_some_and(|byte| byte.is_ascii_digit());
        if matches!(self.byte(0), Some(b'e' | b'E')) && exponent {
            kind = TokenKind::Float;
            self.at += 1 + sign;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(TokenKind, &str)]) {
        let (tokens, faults) = tokens(text, Span::new(0, text.len()), Strings::AnyLines);
        let found: Vec<_> = tokens.iter().map(|token| (token.kind, &text[token.span.range()])).collect();
        assert_eq!(found, [expected, &[(TokenKind::End, "")]].concat(), "{text:?}");
        assert_eq!(faults, []);
    }

    #[test]
    fn text_splits_into_tokens() {
        use TokenKind::*;
        check("a_1 \"b c\" # no\n7", &[(Ident, "a_1"), (Quoted, "\"b c\""), (Int, "7")]);
        check(
            "1.5e-3 2. 1..",
            &[(Float, "1.5e-3"), (Float, "2."), (Int, "1"), (Sign(b'.'), "."), (Sign(b'.'), ".")],
        );
        check("-inf=>", &[(Sign(b'-'), "-"), (Ident, "inf"), (Sign(b'='), "="), (Sign(b'>'), ">")]);
        check(r#""a\"b\\""#, &[(Quoted, r#""a\"b\\""#)]);
        check("1e", &[(Int, "1"), (Ident, "e")]);
    }

    #[test]
    fn lexical_errors_are_reported_and_skipped() {
        let (tokens, faults) = tokens("a ö \"b\nc", Span::new(0, 9), Strings::AnyLines);
        assert_eq!(tokens.len(), 4);
        let expected = [
            (LexicalFault::UnknownCharacter, Span::new(2, 4)),
            (LexicalFault::UnclosedString, Span::new(5, 7)),
        ];
        assert_eq!(faults, expected);
        assert_eq!(tokens[2].span, Span::new(8, 9));
    }

    #[test]
    fn unquoted_removes_quotes_and_escapes() {
        assert_eq!(unquoted(r#""a\"b\\c""#), r#"a"b\c"#);
        assert_eq!(unquoted("\"cut off"), "cut off");
        assert!(is_identifier("_x1") && !is_identifier("1x") && !is_identifier("") && !is_identifier("a.b"));
    }
}
