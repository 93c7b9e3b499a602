//! Formatting of values: format specifications, `%` and `str.format`.

use tree_sitter::Node;

use super::calls::Args;
use super::machine::Machine;
use super::strings::printed;
use super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates `text.format(…)`.
    pub fn formatted(&self, text: &str, args: &Args<'t>) -> Value<'t> {
        if args.open {
            return Value::Unknown;
        }
        let mut whole = String::new();
        let (mut rest, mut next) = (text, 0);
        while let Some(start) = rest.find(['{', '}']) {
            whole.push_str(&rest[..start]);
            let after = &rest[start + 1..];
            // Doubled braces are literal.
            if after.starts_with(&rest[start..=start]) {
                whole.push_str(&rest[start..=start]);
                rest = &after[1..];
                continue;
            }
            let Some((inside, more)) = after.split_once('}') else { return Value::Unknown };
            let (name, specification) = inside.split_once(':').unwrap_or((inside, ""));
            let value = match name.parse::<usize>() {
                Ok(at) => args.positional.get(at).map(|(value, _)| value),
                Err(_) if name.is_empty() => {
                    next += 1;
                    args.positional.get(next - 1).map(|(value, _)| value)
                }
                Err(_) => args.keyword(name),
            };
            let Some(shown) = value.and_then(|value| specified(value, specification)) else {
                return Value::Unknown;
            };
            whole.push_str(&shown);
            rest = more;
        }
        whole.push_str(rest);
        Value::str(&whole)
    }

    /// Evaluates `text % value`.
    pub fn percent(&self, text: &str, value: &Value<'t>) -> Value<'t> {
        let values = match value {
            Value::Tuple(items) => items.to_vec(),
            Value::Object(_) | Value::Unknown => return Value::Unknown,
            other => vec![other.clone()],
        };
        let mut values = values.into_iter();
        let mut whole = String::new();
        let mut parts = text.split('%');
        whole.push_str(parts.next().unwrap_or(""));
        while let Some(part) = parts.next() {
            // `%%` is a percent sign.
            if part.is_empty() {
                whole.push('%');
                whole.push_str(parts.next().unwrap_or(""));
                continue;
            }
            let Some(end) = part.find(['d', 's', 'f', 'i']) else { return Value::Unknown };
            let kind = part.as_bytes()[end];
            let flags = &part[..end];
            let specification = match kind {
                b's' if flags.is_empty() => String::new(),
                b'd' | b'i' => format!("{flags}d"),
                b'f' if flags.is_empty() => ".6f".to_owned(),
                b'f' => format!("{flags}f"),
                _ => return Value::Unknown,
            };
            let Some(shown) = values.next().and_then(|value| specified(&value, &specification)) else {
                return Value::Unknown;
            };
            whole.push_str(&shown);
            whole.push_str(&part[end + 1..]);
        }
        if values.next().is_some() { Value::Unknown } else { Value::str(&whole) }
    }

    /// Returns the text of an interpolation in an f-string, of which `value` is the value.
    pub fn interpolated(
        &self,
        value: &Value<'t>,
        part: Node<'t>,
        specification: Option<Node<'t>>,
    ) -> Option<String> {
        let text = self.text(part);
        // `{x = }` shows the expression, and a specification may have values of its own.
        let specification = specification.map_or("", |node| self.text(node).trim_start_matches(':'));
        if text.trim_end_matches('}').trim_end().ends_with('=') || specification.contains('{') {
            return None;
        }
        specified(value, specification)
    }
}

/// Returns `format(value, specification)`, for the specifications of integers, floats and strings.
fn specified(value: &Value, specification: &str) -> Option<String> {
    if specification.is_empty() {
        return printed(value);
    }
    // A sign is no part of a width.
    let is_number = |text: &&str| text.bytes().all(|letter| letter.is_ascii_digit());
    let digits =
        |text: &str| Some(text).filter(is_number)?.parse::<usize>().ok().filter(|width| *width <= 64);
    match (value, specification.strip_suffix('d'), specification.strip_suffix('f')) {
        (Value::Int(number), Some(flags), _) => {
            if flags.is_empty() {
                return Some(number.to_string());
            }
            let width = digits(flags)?;
            Some(match flags.starts_with('0') {
                true => format!("{number:0width$}"),
                false => format!("{number:width$}"),
            })
        }
        (Value::Int(number), None, None) => {
            let width = digits(specification)?;
            Some(match specification.starts_with('0') {
                true => format!("{number:0width$}"),
                false => format!("{number:width$}"),
            })
        }
        (Value::Int(_) | Value::Float(_), None, Some(flags)) => {
            let places = digits(flags.strip_prefix('.')?)?;
            value.number().filter(|number| number.is_finite()).map(|number| format!("{number:.places$}"))
        }
        _ => None,
    }
}
