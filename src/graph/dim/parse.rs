//! Parses dimensions as [`Dim`] prints them and as exporters write `dim_param`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = unary { ("*" | "/" | "//" | "%") unary }
//! unary   = "-" unary | power
//! power   = primary [ ("**" | "^") number ]
//! primary = number | name | "`" any "`" | "(" sum ")" | function "(" sum { "," sum } ")"
//! ```
//!
//! `/` is exact: a fraction becomes an integer only by rounding, such as `floor`, or if the divisor cancels.
//! The functions are integer functions of sympy and of `torch.utils._sympy.functions`.

use super::extremum::extremum;
use super::poly::Extreme;
use super::{Dim, Symbol};

/// Maximum nesting depth of parentheses and signs.
const MAX_DEPTH: usize = 64;

/// Maximum exponent.
const MAX_POWER: i64 = 64;

impl Dim {
    /// Parses an expression over sizes. Any other text is the name of one size.
    /// For example, `seq-len`, `a/b`, `2x` and `batch size` are names.
    pub fn parse(text: &str) -> Dim {
        parse_expression(text).unwrap_or_else(|| Dim::symbol(text))
    }
}

/// Parses an expression such as `2*batch + 1`.
/// Returns `None` if the text is not an integer expression, or a [`Dim`] cannot represent its value.
pub(super) fn parse_expression(text: &str) -> Option<Dim> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let value = parser.sum()?;
    (parser.next == parser.tokens.len()).then_some(value)?.integer()
}

/// Returns true if the text is an identifier.
/// An identifier starts with a letter or `_`. Each further character is a letter, a digit, `_`, `.` or `:`.
pub(super) fn is_identifier(text: &str) -> bool {
    matches!(tokens(text).as_deref(), Some([Token::Name(name)]) if name == text)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(i64),
    Name(String),
    /// A name in backquotes, which is never a function.
    Quoted(String),
    Sign(&'static str),
}

/// Longer signs first, so that the longest one matches.
const SIGNS: [&str; 11] = ["**", "//", "+", "-", "*", "/", "%", "^", "(", ")", ","];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            '0'..='9' => number(rest)?,
            '`' => quoted(rest)?,
            c if is_name_start(c) => name(rest),
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
                if sign == "-" && is_hyphen(text, text.len() - rest.len()) {
                    return None;
                }
                (Token::Sign(sign), sign.len())
            }
        };
        tokens.push(token);
        rest = rest[len..].trim_start();
    }
    Some(tokens)
}

/// Returns true if the `-` at byte `at` joins two words, as in `seq-len`.
/// Exporters put spaces around a minus.
fn is_hyphen(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(is_name_part);
    let after = text[at + 1..].chars().next().is_some_and(is_name_part);
    before && after
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

fn name(text: &str) -> (Token, usize) {
    let len = text.find(|c| !is_name_part(c)).unwrap_or(text.len());
    (Token::Name(text[..len].to_owned()), len)
}

/// Reads a number; rejects `2x`, which is neither a number nor a product.
fn number(text: &str) -> Option<(Token, usize)> {
    let len = text.find(|c| !is_name_part(c)).unwrap_or(text.len());
    Some((Token::Number(text[..len].parse().ok()?), len))
}

/// Reads a quoted name, in which two backquotes stand for one.
fn quoted(text: &str) -> Option<(Token, usize)> {
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let is_doubled = c == '`' && chars.next_if(|(_, next)| *next == '`').is_some();
        if c == '`' && !is_doubled {
            return Some((Token::Quoted(name), at + 1));
        }
        name.push(c);
    }
    None
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn sum(&mut self) -> Option<Fraction> {
        let mut sum = self.product()?;
        while let Some(sign) = self.accept(&["+", "-"]) {
            let term = self.product()?;
            sum = sum.add(&if sign == "-" { term.neg()? } else { term })?;
        }
        Some(sum)
    }

    fn product(&mut self) -> Option<Fraction> {
        let mut product = self.unary()?;
        while let Some(sign) = self.accept(&["*", "/", "//", "%"]) {
            let factor = self.unary()?;
            product = match sign {
                "*" => product.mul(&factor)?,
                "/" => product.div(&factor)?,
                "//" => product.div(&factor)?.floor()?.into(),
                _ => product.integer()?.modulo(factor.integer()?)?.into(),
            };
        }
        Some(product)
    }

    fn unary(&mut self) -> Option<Fraction> {
        self.nested(|parser| match parser.accept(&["-"]) {
            Some(_) => parser.unary()?.neg(),
            None => parser.power(),
        })
    }

    fn power(&mut self) -> Option<Fraction> {
        let base = self.primary()?;
        if self.accept(&["**", "^"]).is_none() {
            return Some(base);
        }
        let Some(Token::Number(power @ 0..=MAX_POWER)) = self.advance() else { return None };
        (0..power).try_fold(Dim::known(1).into(), |product: Fraction, _| product.mul(&base))
    }

    fn primary(&mut self) -> Option<Fraction> {
        match self.advance()? {
            Token::Number(n) => Some(Dim::known(n).into()),
            Token::Quoted(name) => Some(Dim::symbol(&name).into()),
            Token::Sign("(") => {
                let inner = self.sum()?;
                self.accept(&[")"]).map(|_| inner)
            }
            Token::Sign(_) => None,
            Token::Name(name) if self.accept(&["("]).is_some() => {
                let args = self.arguments()?;
                call(&name, &args)
            }
            Token::Name(name) => Some(Dim::from(Symbol::size(&name)).into()),
        }
    }

    fn arguments(&mut self) -> Option<Vec<Fraction>> {
        let mut args = vec![self.sum()?];
        while self.accept(&[","]).is_some() {
            args.push(self.sum()?);
        }
        self.accept(&[")"]).map(|_| args)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn advance(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next)?.clone();
        self.next += 1;
        Some(token)
    }

    fn accept(&mut self, signs: &[&str]) -> Option<&'static str> {
        match self.tokens.get(self.next) {
            Some(Token::Sign(sign)) if signs.contains(sign) => {
                self.next += 1;
                Some(sign)
            }
            _ => None,
        }
    }
}

fn call(function: &str, args: &[Fraction]) -> Option<Fraction> {
    let integers = || args.iter().map(Fraction::integer).collect::<Option<Vec<Dim>>>();
    let value = match (function, args) {
        ("floor" | "Floor" | "FloorToInt", [x]) => x.floor()?,
        ("ceil" | "ceiling" | "Ceil" | "CeilToInt", [x]) => x.neg()?.floor()?.neg()?,
        ("FloorDiv" | "CleanDiv", [a, b]) => a.div(b)?.floor()?,
        ("CeilDiv", [a, b]) => a.div(b)?.neg()?.floor()?.neg()?,
        ("Mod" | "PythonMod" | "mod", [a, b]) => a.integer()?.modulo(b.integer()?)?,
        ("IntTrueDiv", [a, b]) => return a.div(b),
        ("Min" | "min", _) => extremum(Extreme::Min, integers()?)?,
        ("Max" | "max", _) => extremum(Extreme::Max, integers()?)?,
        ("Identity", [x]) => return Some(x.clone()),
        _ => return None,
    };
    Some(value.into())
}

/// A quotient of symbolic integers.
#[derive(Clone)]
struct Fraction {
    numerator: Dim,
    divisor: Dim,
}

impl From<Dim> for Fraction {
    fn from(numerator: Dim) -> Self {
        Fraction { numerator, divisor: Dim::known(1) }
    }
}

impl Fraction {
    fn integer(&self) -> Option<Dim> {
        if self.divisor.as_const() == Some(0) { None } else { self.numerator.div_exact(&self.divisor) }
    }

    fn floor(&self) -> Option<Dim> {
        self.numerator.floor_div(&self.divisor)
    }

    fn neg(&self) -> Option<Fraction> {
        Some(Fraction { numerator: self.numerator.neg()?, divisor: self.divisor.clone() })
    }

    fn add(&self, other: &Fraction) -> Option<Fraction> {
        let left = self.numerator.mul(&other.divisor)?;
        let right = other.numerator.mul(&self.divisor)?;
        Some(Fraction { numerator: left.add(right)?, divisor: self.divisor.mul(&other.divisor)? })
    }

    fn mul(&self, other: &Fraction) -> Option<Fraction> {
        let numerator = self.numerator.mul(&other.numerator)?;
        Some(Fraction { numerator, divisor: self.divisor.mul(&other.divisor)? })
    }

    fn div(&self, other: &Fraction) -> Option<Fraction> {
        let inverse = Fraction { numerator: other.divisor.clone(), divisor: other.numerator.clone() };
        self.mul(&inverse)
    }
}
