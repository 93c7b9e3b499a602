//! Parser of YAML configurations: block and flow collections of plain and quoted scalars.
//!
//! Scalars are resolved as PyYAML resolves them. Anchors, tags, block scalars and values over several lines are not
//! supported.

use serde_json::{Map, Number, Value};

/// Maximum number of nested collections.
const MAX_DEPTH: usize = 20;

/// A line without its indentation and comment.
struct Line<'s> {
    indent: usize,
    text: &'s str,
}

/// Returns the value of a document; `None` if it is invalid or not supported.
pub fn parse(text: &str) -> Option<Value> {
    let mut lines = vec![];
    for line in text.lines() {
        let content = line.trim_start_matches(' ');
        let shown = without_comment(content)?.trim_end();
        if shown.starts_with('\t') || shown.starts_with("---") || shown.starts_with("...") {
            return None;
        }
        if !shown.is_empty() {
            lines.push(Line { indent: line.len() - content.len(), text: shown });
        }
    }
    let mut at = 0;
    let first = lines.first()?;
    let value = match first.text.starts_with("- ") || first.text == "-" || key_end(first.text).is_some() {
        true => block(&lines, &mut at, first.indent, 0)?,
        false => {
            at = 1;
            scalar_or_flow(first.text)?
        }
    };
    (at == lines.len()).then_some(value)
}

/// Parses the mapping or list whose items have an indentation.
fn block(lines: &[Line], at: &mut usize, indent: usize, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let is_item = |line: &Line| line.text.starts_with("- ") || line.text == "-";
    let mut map = Map::new();
    let mut items = vec![];
    let is_list = is_item(lines.get(*at)?);
    while let Some(line) = lines.get(*at).filter(|line| line.indent >= indent) {
        if line.indent != indent {
            return None;
        }
        if is_item(line) != is_list {
            // A list may have the indentation of its key.
            break;
        }
        *at += 1;
        if is_list {
            let rest = line.text[1..].trim_start();
            if rest.is_empty() {
                items.push(nested(lines, at, indent, false, depth)?);
            } else if key_end(rest).is_some() || rest.starts_with("- ") {
                // Mappings that begin in the line of an item are rare in configurations.
                return None;
            } else {
                items.push(scalar_or_flow(rest)?);
            }
            continue;
        }
        let end = key_end(line.text)?;
        let Value::String(key) = scalar_or_flow(line.text[..end].trim_end())? else { return None };
        let rest = line.text[end + 1..].trim_start();
        let value =
            if rest.is_empty() { nested(lines, at, indent, true, depth)? } else { scalar_or_flow(rest)? };
        if map.insert(key, value).is_some() {
            return None;
        }
    }
    Some(if is_list { Value::Array(items) } else { Value::Object(map) })
}

/// Parses the block below a key or an item; it is null if there is none.
fn nested(lines: &[Line], at: &mut usize, indent: usize, of_key: bool, depth: usize) -> Option<Value> {
    match lines.get(*at) {
        Some(next) if next.indent > indent => {
            let is_block = next.text.starts_with("- ") || next.text == "-" || key_end(next.text).is_some();
            if is_block { block(lines, at, next.indent, depth + 1) } else { None }
        }
        Some(next) if of_key && next.indent == indent && next.text.starts_with("- ") => {
            block(lines, at, indent, depth + 1)
        }
        _ => Some(Value::Null),
    }
}

/// Returns the position of the colon after the key of a line.
fn key_end(text: &str) -> Option<usize> {
    if text.starts_with(['"', '\'', '[', '{']) {
        return None;
    }
    text.char_indices()
        .find(|(at, letter)| *letter == ':' && text[at + 1..].chars().next().is_none_or(|next| next == ' '))
        .map(|(at, _)| at)
}

/// Removes a comment; `None` if a quoted string does not end in the line.
fn without_comment(text: &str) -> Option<&str> {
    let mut quote = None;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') && !before.is_alphanumeric() => quote = Some(letter),
            None if letter == '#' && before == ' ' => return Some(&text[..at]),
            None => {}
        }
        before = letter;
    }
    quote.is_none().then_some(text)
}

/// Parses a value in one line.
fn scalar_or_flow(text: &str) -> Option<Value> {
    let mut rest = text;
    let value = flow(&mut rest, false, 0)?;
    rest.trim().is_empty().then_some(value)
}

/// Parses a flow collection or a scalar; in a collection, a scalar ends at a comma or a bracket.
fn flow(rest: &mut &str, is_inner: bool, depth: usize) -> Option<Value> {
    *rest = rest.trim_start();
    let first = rest.chars().next()?;
    if depth > MAX_DEPTH {
        return None;
    }
    match first {
        '[' | '{' => {
            *rest = &rest[1..];
            let close = if first == '[' { ']' } else { '}' };
            let (mut items, mut map) = (vec![], Map::new());
            loop {
                *rest = rest.trim_start();
                if let Some(after) = rest.strip_prefix(close) {
                    *rest = after;
                    break;
                }
                if first == '[' {
                    items.push(flow(rest, true, depth + 1)?);
                } else {
                    let end = rest.find(": ")?;
                    let key = &rest[..end];
                    if key.contains(['"', '\'', ',', '{', '[', '}', ']']) {
                        return None;
                    }
                    let Value::String(key) = scalar(key.trim())? else { return None };
                    *rest = &rest[end + 1..];
                    let value = flow(rest, true, depth + 1)?;
                    map.insert(key, value);
                }
                *rest = rest.trim_start();
                match rest.strip_prefix(',') {
                    Some(after) => *rest = after,
                    None if rest.starts_with(close) => {}
                    None => return None,
                }
            }
            Some(if first == '[' { Value::Array(items) } else { Value::Object(map) })
        }
        '"' | '\'' => {
            let end = rest[1..].find(first)? + 1;
            let content = &rest[1..end];
            *rest = &rest[end + 1..];
            // Escapes are not resolved.
            (!content.contains('\\') && !rest.starts_with(first)).then(|| Value::String(content.to_owned()))
        }
        _ => {
            let end = if is_inner { rest.find([',', ']', '}']).unwrap_or(rest.len()) } else { rest.len() };
            let (text, after) = rest.split_at(end);
            *rest = after;
            if is_inner && text.contains(": ") {
                return None;
            }
            scalar(text.trim())
        }
    }
}

/// Resolves a plain scalar, as YAML 1.1 does.
fn scalar(text: &str) -> Option<Value> {
    let first = text.chars().next()?;
    if "&*!|>%@`?".contains(first) || text.contains(": ") || text.ends_with(':') {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let is_word = text == lower || text == text.to_ascii_uppercase() || text.get(1..) == lower.get(1..);
    match lower.as_str() {
        "null" | "~" if is_word => return Some(Value::Null),
        "true" | "yes" | "on" if is_word => return Some(Value::Bool(true)),
        "false" | "no" | "off" if is_word => return Some(Value::Bool(false)),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return Some(Value::String(text.to_owned()));
    }
    if digits.chars().all(|letter| letter.is_ascii_digit()) {
        // A leading zero marks an octal number.
        let is_decimal = digits == "0" || !digits.starts_with('0');
        return is_decimal.then(|| text.trim_start_matches('+').parse().ok().map(Value::Number))?;
    }
    let is_float = digits.contains('.')
        && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        && digits.matches('.').count() == 1
        && digits.len() > 1;
    match is_float {
        true => text.parse().ok().and_then(Number::from_f64).map(Value::Number),
        // Dates, times, exponents and other bases are resolved by rules of their own.
        false if digits.contains(['_', ':', '-', 'e', 'E', 'x', 'o', 'b']) => None,
        false => Some(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn configurations_are_parsed_like_pyyaml() {
        let text = "
model:
  in_channels: 4      # R, G, B, NIR
  widths: [16, 32, 64]
  rate: 0.5
  name: 'a # b'
  bias: yes
  head: {kind: fc, classes: 6}
  none: ~
  stages:
  - 1
  - two
export:
  size: 128
  file: landcover.onnx
";
        let parsed = parse(text).map(|value| value.to_string());
        let expected = concat!(
            r#"{"model":{"in_channels":4,"widths":[16,32,64],"rate":0.5,"name":"a # b","bias":true,"#,
            r#""head":{"kind":"fc","classes":6},"none":null,"stages":[1,"two"]},"#,
            r#""export":{"size":128,"file":"landcover.onnx"}}"#
        );
        let expected: Option<serde_json::Value> = serde_json::from_str(expected).ok();
        assert_eq!(parsed, expected.map(|value| value.to_string()));
    }

    #[test]
    fn other_yaml_is_not_parsed() {
        for text in
            ["a: &x 1", "a: |\n  b", "a: 010", "a: 1e-3", "--- \na: 1", "a: 1\na: 2", "- a: 1", "a: [1,\n 2]"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
