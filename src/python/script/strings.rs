//! Strings: literals, formatting and methods.

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::calls::Args;
use super::file_paths::{plain_path, renamed};
use super::machine::{Eval, Machine};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a string literal; bytes are unknown.
    pub fn string(&mut self, node: Node<'t>) -> Eval<'t> {
        let mut text = String::new();
        let mut known = true;
        let mut is_raw = false;
        for part in children(node) {
            match part.kind() {
                "string_start" => {
                    let prefix = self.text(part).to_ascii_lowercase();
                    is_raw = prefix.contains('r');
                    known &= !prefix.contains('b');
                }
                "string_content" if is_raw => text.push_str(self.text(part)),
                "string_content" => match unescaped(self.text(part)) {
                    Some(part) => text.push_str(&part),
                    None => known = false,
                },
                "interpolation" => {
                    let value = self.evaluate_optional(field(part, "expression"))?;
                    // The text of such a member depends on the release of Python.
                    let is_member = matches!(value, Value::Str(_)) && self.has_enumeration(true);
                    let is_plain = field(part, "type_conversion").is_none() && !is_member;
                    let specification = field(part, "format_specifier");
                    match self.interpolated(&value, part, specification).filter(|_| is_plain) {
                        Some(shown) => text.push_str(&shown),
                        None => known = false,
                    }
                }
                _ => {}
            }
        }
        Ok(if known { Value::str(&text) } else { Value::Unknown })
    }

    /// Evaluates adjacent string literals.
    pub fn concatenated(&mut self, node: Node<'t>) -> Eval<'t> {
        let mut whole = String::new();
        for part in children(node) {
            match self.evaluate(part)? {
                Value::Str(text) => whole.push_str(&text),
                _ => return Ok(Value::Unknown),
            }
        }
        Ok(Value::str(&whole))
    }

    /// Returns true if a text of the script may be a path of `pathlib`.
    pub fn has_paths(&self) -> bool {
        self.mentions(&["pathlib"])
    }

    /// Calls a method of a string.
    pub fn string_method(&mut self, text: &str, name: &str, args: &Args<'t>) -> Value<'t> {
        let first = args.get(0, "").and_then(Value::text);
        match (name, first) {
            ("lower", _) => Value::str(&text.to_lowercase()),
            ("upper", _) => Value::str(&text.to_uppercase()),
            ("strip", None) if args.all().next().is_none() => Value::str(text.trim()),
            ("startswith", Some(start)) if args.positional.len() == 1 => Value::Bool(text.starts_with(start)),
            ("endswith", Some(end)) if args.positional.len() == 1 => Value::Bool(text.ends_with(end)),
            ("removesuffix", Some(end)) => Value::str(text.strip_suffix(end).unwrap_or(text)),
            ("removeprefix", Some(start)) => Value::str(text.strip_prefix(start).unwrap_or(text)),
            ("replace", Some(from)) if args.positional.len() == 2 => {
                match args.get(1, "").and_then(Value::text) {
                    Some(to) => Value::str(&text.replace(from, to)),
                    None => Value::Unknown,
                }
            }
            ("split", Some(separator)) if !separator.is_empty() && args.positional.len() == 1 => {
                let parts = text.split(separator).map(Value::str).collect();
                self.list(parts)
            }
            ("split", None) if args.all().next().is_none() => {
                let parts = text.split_whitespace().map(Value::str).collect();
                self.list(parts)
            }
            ("as_posix", None) => Value::str(text),
            ("joinpath", Some(_)) => {
                let parts = args.positional.iter().map(|(part, _)| part.text());
                let parts: Option<Vec<&str>> = std::iter::once(Some(text)).chain(parts).collect();
                path_of(parts)
            }
            ("with_suffix" | "with_name", Some(new)) => {
                renamed(text, name, new).map_or(Value::Unknown, |path| Value::str(&path))
            }
            ("join", _) => self.joined(text, args),
            ("format", _) => self.formatted(text, args),
            _ => Value::Unknown,
        }
    }

    fn joined(&mut self, separator: &str, args: &Args<'t>) -> Value<'t> {
        let items = args.get(0, "").and_then(|items| self.items(items));
        let texts: Option<Vec<String>> =
            items.and_then(|items| items.iter().map(|item| item.text().map(str::to_owned)).collect());
        texts.map_or(Value::Unknown, |texts| Value::str(&texts.join(separator)))
    }
}

/// Returns the value of a path with these parts, if they are known.
pub fn path_of<'t>(parts: Option<Vec<&str>>) -> Value<'t> {
    let path = parts.and_then(|parts| plain_path(&parts));
    path.map_or(Value::Unknown, |path| Value::str(&path))
}

/// Returns `str(value)`.
pub fn printed(value: &Value) -> Option<String> {
    Some(match value {
        Value::Str(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::None => "None".to_owned(),
        // Other floats are printed with an exponent.
        Value::Float(number) if *number == 0.0 || (1e-4..1e16).contains(&number.abs()) => {
            let text = number.to_string();
            if text.contains('.') { text } else { format!("{text}.0") }
        }
        _ => return None,
    })
}

/// Returns the value of the content of a string literal; `None` for rare escapes, such as `\x41`.
fn unescaped(text: &str) -> Option<String> {
    let mut whole = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            whole.push(letter);
            continue;
        }
        match letters.next()? {
            'n' => whole.push('\n'),
            't' => whole.push('\t'),
            'r' => whole.push('\r'),
            '\n' => {}
            quoted @ ('\\' | '\'' | '"') => whole.push(quoted),
            'a' | 'b' | 'f' | 'v' | 'x' | 'u' | 'U' | 'N' | '0'..='7' => return None,
            other => whole.extend(['\\', other]),
        }
    }
    Some(whole)
}
