//! Tokens of TorchScript code, with indentation.

use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(Arc<str>),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    /// Punctuation, such as `(` or `->`.
    Mark(&'static str),
    /// End of a logical line.
    Newline,
    Indent,
    Dedent,
    End,
}

/// Punctuation, longest first.
const MARKS: [&str; 14] = ["->", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "-", "@", "|"];

/// Returns the tokens of a text, each with its 1-based line.
///
/// # Errors
/// The line and the first fault, as a clause.
pub fn tokens(text: &str) -> Result<Vec<(Token, u32)>, (u32, String)> {
    let mut lexer = Lexer { tokens: Vec::new(), levels: vec![0], open: 0 };
    for (number, line) in (1u32..).zip(text.lines()) {
        lexer.line(line, number).map_err(|why| (number, why))?;
    }
    let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    for _ in 1..lexer.levels.len() {
        lexer.tokens.push((Token::Dedent, last));
    }
    lexer.tokens.push((Token::End, last));
    Ok(lexer.tokens)
}

struct Lexer {
    tokens: Vec<(Token, u32)>,
    /// Indentation of the open blocks.
    levels: Vec<usize>,
    /// Number of open brackets.
    open: usize,
}

impl Lexer {
    fn line(&mut self, line: &str, number: u32) -> Result<(), String> {
        let mut rest = line.trim_start();
        if self.open == 0 {
            if rest.is_empty() || rest.starts_with('#') {
                return Ok(());
            }
            self.indent(line.len() - rest.len(), number)?;
        }
        while let Some(first) = rest.chars().next() {
            if first == '#' {
                break;
            }
            let (token, length) = match first {
                ' ' | '\t' | '\r' => {
                    rest = &rest[1..];
                    continue;
                }
                '"' | '\'' => string(rest)?,
                '0'..='9' => numeral(rest)?,
                _ if first == '_' || first.is_alphanumeric() => word(rest),
                _ => mark(rest)?,
            };
            match token {
                Token::Mark("(" | "[" | "{") => self.open += 1,
                Token::Mark(")" | "]" | "}") => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            self.tokens.push((token, number));
            rest = &rest[length..];
        }
        if self.open == 0 {
            self.tokens.push((Token::Newline, number));
        }
        Ok(())
    }

    fn indent(&mut self, width: usize, line: u32) -> Result<(), String> {
        if self.levels.last().is_some_and(|&last| width > last) {
            self.levels.push(width);
            self.tokens.push((Token::Indent, line));
        }
        while self.levels.last().is_some_and(|&last| width < last) {
            self.levels.pop();
            self.tokens.push((Token::Dedent, line));
        }
        if self.levels.last() == Some(&width) { Ok(()) } else { Err("the indentation is invalid".to_owned()) }
    }
}

fn word(text: &str) -> (Token, usize) {
    let is_part = |char: char| char == '_' || char.is_alphanumeric();
    let length = text.find(|char| !is_part(char)).unwrap_or(text.len());
    (Token::Name(text[..length].into()), length)
}

fn numeral(text: &str) -> Result<(Token, usize), String> {
    let mut length = 0;
    let mut is_float = false;
    for (at, char) in text.char_indices() {
        let is_exponent = matches!(char, 'e' | 'E');
        let is_sign = matches!(char, '+' | '-') && text[..at].ends_with(['e', 'E']);
        if !(char.is_ascii_digit() || char == '.' || is_exponent || is_sign) {
            break;
        }
        is_float |= char == '.' || is_exponent;
        length = at + 1;
    }
    let digits = &text[..length];
    let wrong = || format!("the number `{digits}` is not supported");
    if text[length..].starts_with(['j', 'x', '_']) {
        return Err(wrong());
    }
    let token = match is_float {
        true => Token::Float(digits.parse().map_err(|_| wrong())?),
        false => Token::Int(digits.parse().map_err(|_| wrong())?),
    };
    Ok((token, length))
}

fn mark(text: &str) -> Result<(Token, usize), String> {
    let found = MARKS.into_iter().find(|mark| text.starts_with(mark));
    let mark = found.ok_or_else(|| format!("`{}` is not expected", text.chars().next().unwrap_or(' ')))?;
    Ok((Token::Mark(mark), mark.len()))
}

/// Reads a string with the escapes that the serializer writes.
fn string(text: &str) -> Result<(Token, usize), String> {
    let mut chars = text.char_indices().peekable();
    let quote = chars.next().map(|(_, quote)| quote);
    let mut content = String::new();
    while let Some((at, char)) = chars.next() {
        if Some(char) == quote {
            return Ok((Token::Str(content.into()), at + 1));
        }
        if char != '\\' {
            content.push(char);
            continue;
        }
        let Some((_, escaped)) = chars.next() else { break };
        let plain = match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0'..='7' | 'x' => {
                let (radix, count) = if escaped == 'x' { (16, 2) } else { (8, 2) };
                let mut code = escaped.to_digit(radix).unwrap_or(0);
                for _ in 0..count {
                    let Some(digit) = chars.peek().and_then(|(_, char)| char.to_digit(radix)) else { break };
                    code = code * radix + digit;
                    chars.next();
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        };
        content.push(plain);
    }
    Err("a string does not end on its line".to_owned())
}

/// Describes a token for a message.
pub(super) fn shown(token: &Token) -> String {
    match token {
        Token::Name(name) => format!("`{name}`"),
        Token::Int(int) => format!("`{int}`"),
        Token::Float(float) => format!("`{float}`"),
        Token::Str(text) => format!("the string \"{text}\""),
        Token::Mark(mark) => format!("`{mark}`"),
        Token::Newline => "the end of the line".to_owned(),
        Token::Indent | Token::Dedent => "a change of the indentation".to_owned(),
        Token::End => "the end of the file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Token]) {
        let tokens: Vec<Token> =
            tokens(text).expect("it is valid").into_iter().map(|(token, _)| token).collect();
        assert_eq!(tokens, expected);
    }

    #[test]
    fn numbers_and_strings_are_read() {
        let name = |name: &str| Token::Name(name.into());
        check(
            "a = 1.0000000000000001e-05, 2., -3",
            &[
                name("a"),
                Token::Mark("="),
                Token::Float(1e-5),
                Token::Mark(","),
                Token::Float(2.0),
                Token::Mark(","),
                Token::Mark("-"),
                Token::Int(3),
                Token::Newline,
                Token::End,
            ],
        );
        check(r#""a\"\n\101\x41""#, &[Token::Str("a\"\nAA".into()), Token::Newline, Token::End]);
        assert_eq!(tokens("x = 2j").err(), Some((1, "the number `2` is not supported".to_owned())));
    }

    #[test]
    fn lines_in_brackets_are_joined_and_blocks_are_marked() {
        let name = |name: &str| Token::Name(name.into());
        check(
            "if a:\n  f(b,\n   c)\nd",
            &[
                name("if"),
                name("a"),
                Token::Mark(":"),
                Token::Newline,
                Token::Indent,
                name("f"),
                Token::Mark("("),
                name("b"),
                Token::Mark(","),
                name("c"),
                Token::Mark(")"),
                Token::Newline,
                Token::Dedent,
                name("d"),
                Token::Newline,
                Token::End,
            ],
        );
    }
}
