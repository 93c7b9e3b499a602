//! Parsing and printing of numbers in ONNX text.

use std::str::FromStr;

use super::cursor::{Cursor, Parsed};
use super::lexer::TokenKind;
use super::span::Span;

/// Returns true if a number comes next: digits, a minus, `inf`, `infinity` or `nan`.
pub fn at_number(cursor: &Cursor) -> bool {
    match cursor.peek().kind {
        TokenKind::Int | TokenKind::Float | TokenKind::Sign(b'-') => true,
        TokenKind::Ident => is_special(cursor.text_of(cursor.peek())),
        _ => false,
    }
}

fn is_special(word: &str) -> bool {
    ["inf", "infinity", "nan"].contains(&&*word.to_ascii_lowercase())
}

/// Reads a number as text, so that it is rounded only once, to the type of the caller.
fn literal(cursor: &mut Cursor) -> Parsed<(TokenKind, String, Span)> {
    let start = cursor.peek().span;
    let mut digits = String::from(if cursor.eat("-") { "-" } else { "" });
    let token = cursor.peek();
    let text = cursor.text_of(token);
    let kind = match token.kind {
        TokenKind::Int => TokenKind::Int,
        TokenKind::Float => TokenKind::Float,
        TokenKind::Ident if is_special(text) => TokenKind::Float,
        _ => return Err(cursor.expected("a number")),
    };
    digits.push_str(text);
    cursor.bump();
    Ok((kind, digits, cursor.since(start)))
}

fn whole<T: FromStr>(cursor: &mut Cursor, type_name: &str) -> Parsed<T> {
    let (kind, digits, span) = literal(cursor)?;
    if kind != TokenKind::Int {
        return Err(cursor.fault(span, format!("expected a whole number, found `{digits}`")));
    }
    digits.parse().map_err(|_| cursor.fault(span, format!("{digits} does not fit in {type_name}")))
}

/// Parses a 64-bit integer.
pub fn int(cursor: &mut Cursor) -> Parsed<i64> {
    whole(cursor, "int64")
}

/// Parses a 32-bit integer.
pub fn int32(cursor: &mut Cursor) -> Parsed<i32> {
    whole(cursor, "int32")
}

/// Parses an unsigned 64-bit integer.
pub fn unsigned(cursor: &mut Cursor) -> Parsed<u64> {
    whole(cursor, "uint64")
}

/// Parses a float; overflow to infinity is an error, underflow is not.
fn float<F: FromStr + num_traits::Float>(cursor: &mut Cursor, type_name: &str) -> Parsed<F> {
    let (_, digits, span) = literal(cursor)?;
    let named = digits.ends_with(|last: char| last.is_ascii_alphabetic());
    match digits.parse::<F>() {
        Ok(value) if named || value.is_finite() => Ok(value),
        _ => Err(cursor.fault(span, format!("{digits} does not fit in {type_name}"))),
    }
}

/// Parses a float32, correctly rounded.
pub fn float32(cursor: &mut Cursor) -> Parsed<f32> {
    float(cursor, "float")
}

/// Parses a float64, correctly rounded.
pub fn float64(cursor: &mut Cursor) -> Parsed<f64> {
    float(cursor, "double")
}

/// Returns true if a minus comes next and a number follows without a gap.
pub fn at_signed(cursor: &Cursor) -> bool {
    let (sign, number) = (cursor.peek(), cursor.nth(1));
    let is_number = match number.kind {
        TokenKind::Int | TokenKind::Float => true,
        TokenKind::Ident => is_special(cursor.text_of(number)),
        _ => false,
    };
    sign.kind == TokenKind::Sign(b'-') && is_number && sign.span.end == number.span.start
}

/// Returns true if an integer literal comes next.
pub fn at_int(cursor: &Cursor) -> bool {
    cursor.nth(usize::from(cursor.at("-"))).kind == TokenKind::Int
}

/// Formats a float so that it round-trips, like C++'s `std::to_chars`, which onnx's printer uses.
/// Picks the shorter one of fixed and scientific notation.
pub fn write_float<F: FloatText>(value: F) -> String {
    let scientific = shortest(value);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        // inf and nan have no exponent.
        return scientific.replace("NaN", "nan");
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let scientific = format!("{mantissa}e{sign}{:02}", exponent.abs());
    let fraction_digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let is_whole = i32::try_from(fraction_digits).is_ok_and(|digits| exponent >= digits);
    let fixed = if is_whole { value.exact() } else { without_exponent(mantissa, exponent) };
    if fixed.len() <= scientific.len() { fixed } else { scientific }
}

/// Returns the shortest digits that round-trip, in scientific notation.
/// If two candidates are equally near, picks the one with an even last digit, like C++; Rust's formatting
/// picks the greater candidate.
fn shortest<F: FloatText>(value: F) -> String {
    let shortest = value.scientific();
    let fraction_digits =
        shortest.find('e').map_or(0, |end| end.saturating_sub(shortest.find('.').map_or(end, |dot| dot + 1)));
    let even = value.rounded(fraction_digits);
    if value.is_read_from(&even) { even } else { shortest }
}

/// Formats `mantissa` times a power of ten without an exponent; the result must have a fraction.
fn without_exponent(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    match usize::try_from(exponent) {
        Ok(whole) => format!("{sign}{}.{}", &digits[..=whole], &digits[whole + 1..]),
        Err(_) => format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
    }
}

/// Formatting and parsing of floats by the standard library, for `f32` and `f64`.
pub trait FloatText: Copy {
    /// Formats the number with the fewest digits that round-trip, and an exponent.
    fn scientific(self) -> String;
    /// Formats the number with `digits` fraction digits and an exponent; ties round to even.
    fn rounded(self, digits: usize) -> String;
    /// Returns true if `text` parses to exactly this number.
    fn is_read_from(self, text: &str) -> bool;
    /// Formats a whole number with all of its digits.
    fn exact(self) -> String;
}

macro_rules! float_text {
    ($float:ty) => {
        impl FloatText for $float {
            fn scientific(self) -> String {
                format!("{self:e}")
            }

            fn rounded(self, digits: usize) -> String {
                format!("{self:.digits$e}")
            }

            fn is_read_from(self, text: &str) -> bool {
                text.parse() == Ok(self)
            }

            fn exact(self) -> String {
                format!("{self:.0}")
            }
        }
    };
}

float_text!(f32);
float_text!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_formatted_like_to_chars() {
        let cases = [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.001, "0.001"),
            (-12.5, "-12.5"),
            (0.0001, "1e-04"),
            (1e5, "1e+05"),
            (123_456_789.0, "123456792"),
            (12_345_678_900.0, "12345678848"),
            (3.4e38, "3.4e+38"),
            (26.0 / 4096.0, "0.0063476562"),
            (f32::INFINITY, "inf"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::NAN, "nan"),
        ];
        for (value, expected) in cases {
            assert_eq!(write_float(value), expected);
        }
        assert_eq!(write_float(0.000_123_45_f64), "0.00012345");
        assert_eq!(write_float(5e-324_f64), "5e-324");
    }
}
