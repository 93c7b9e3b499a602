//! Operators that the text of a pattern needs.
//!
//! `build.rs` includes this file, which may use no module of the crate except [`outline`](super::outline).

use std::borrow::Cow;

use super::outline::{is_word, skip_blank, skip_value, word};

/// Symbols of binary operators in a pattern, and the names of the ONNX operators.
const SIGNS: [(&str, &str); 11] = [
    ("==", "Equal"),
    ("!=", "Equal"),
    ("<=", "LessOrEqual"),
    (">=", "GreaterOrEqual"),
    ("<", "Less"),
    (">", "Greater"),
    ("+", "Add"),
    ("-", "Sub"),
    ("*", "Mul"),
    ("/", "Div"),
    ("%", "Mod"),
];

/// Returns, for each node in the text of a pattern, the operators that it may have.
///
/// `Squeeze@13 (x)` yields `Squeeze`, `com.microsoft.FusedConv (x)` yields `FusedConv`, `@op in [Add, Sub]` yields
/// both, and `x * y` yields `Mul`. Later uses of the same `@op`, and nodes that only some alternatives contain, are
/// omitted.
pub fn operators(pattern: &str) -> Vec<Vec<Cow<'_, str>>> {
    let mut used: Vec<&str> = Vec::new();
    let mut operators = Vec::new();
    for (at, (targets, values)) in statements(pattern).into_iter().rev().enumerate() {
        // The last node is always needed; others are needed if all alternatives of a needed value use them.
        if at == 0 || targets.iter().any(|target| used.contains(target)) {
            used.extend(names(&values));
            collect(values, &mut operators);
        }
    }
    operators
}

/// Splits a pattern into statements: their targets, and the alternatives of their values.
fn statements(pattern: &str) -> Vec<(Vec<&str>, Vec<Value<'_>>)> {
    let mut statements = Vec::new();
    let mut text = skip_blank(pattern.trim_start().trim_start_matches('{'));
    while !text.is_empty() && !text.starts_with('}') {
        let mut targets = Vec::new();
        while let Some(first) = text.chars().next().filter(|first| *first != '=') {
            let name = dotted(text).trim_end_matches('.');
            targets.push(name);
            let rest = match first {
                '"' => skip_value(text),
                _ => &text[name.len().max(first.len_utf8())..],
            };
            text = skip_blank(rest.trim_start_matches(['?', '.', ',', ' ', '\n']));
        }
        let (values, rest) = alternatives(skip_blank(text.trim_start_matches('=')));
        statements.push((targets, values));
        text = skip_blank(rest);
    }
    statements
}

/// Reads a value and its alternatives.
fn alternatives(text: &str) -> (Vec<Value<'_>>, &str) {
    let mut values = vec![Value::of(text)];
    let mut rest = values[0].after;
    while let Some(next) = skip_blank(rest).strip_prefix('|') {
        let value = Value::of(skip_blank(next));
        rest = value.after;
        values.push(value);
    }
    (values, rest)
}

/// Returns the alternatives of each value in a list of values.
fn listed(mut text: &str) -> Vec<Vec<Value<'_>>> {
    let mut all = Vec::new();
    loop {
        text = skip_blank(text.trim_start_matches([',', '=', '{', '}', ')', ']', ':']));
        if text.is_empty() {
            return all;
        }
        if !text.starts_with([',', '=', '{', '}', ')', ']', ':']) {
            let (values, rest) = alternatives(text);
            all.push(values);
            text = rest;
        }
    }
}

/// Returns the names that all of these alternatives use.
fn names<'t>(values: &[Value<'t>]) -> Vec<&'t str> {
    let of = |value: &Value<'t>| {
        let inside = value.inside.iter().flat_map(|inside| listed(inside));
        let inside: Vec<&str> = inside.flat_map(|values| names(&values)).collect();
        [inside, value.name.into_iter().collect()].concat()
    };
    let mut each = values.iter().map(of);
    let mut all = each.next().unwrap_or_default();
    each.for_each(|names| all.retain(|name| names.contains(name)));
    all
}

/// Adds the operators of each node that a value needs in every alternative of the value.
fn collect<'t>(values: Vec<Value<'t>>, operators: &mut Vec<Vec<Cow<'t, str>>>) {
    if values.len() == 1 {
        for value in values {
            operators.extend(value.nodes);
            let inside = value.inside.into_iter().flat_map(listed);
            inside.for_each(|values| collect(values, operators));
        }
    } else if values.iter().all(|value| !value.nodes.is_empty()) {
        let mut roots: Vec<_> = values.into_iter().flat_map(|value| value.nodes).flatten().collect();
        roots.dedup();
        operators.push(roots);
    }
}

/// Value of a pattern, at the start of a text.
struct Value<'t> {
    /// Possible operators of each outermost node of the value; empty unless the value is an operator call.
    nodes: Vec<Vec<Cow<'t, str>>>,
    /// Name that the value consists of, if the value is not a call.
    name: Option<&'t str>,
    /// Texts of the operands and arguments of the value, which contain the inner nodes.
    inside: Vec<&'t str>,
    after: &'t str,
}

impl<'t> Value<'t> {
    /// Reads operands and the binary operator symbols between them.
    fn of(text: &'t str) -> Self {
        let first = Value::operand(text);
        let Some((sign, rest)) = sign_at(first.after) else { return first };
        let mut value = Value {
            nodes: vec![vec![sign.into()]],
            name: None,
            inside: vec![&text[..text.len() - first.after.len()]],
            after: rest,
        };
        loop {
            let start = skip_blank(value.after);
            value.after = Value::operand(start).after;
            value.inside.push(&start[..start.len() - value.after.len()]);
            let Some((sign, rest)) = sign_at(value.after) else { return value };
            value.nodes.push(vec![sign.into()]);
            value.after = rest;
        }
    }

    fn operand(text: &'t str) -> Self {
        let is_variable = text.starts_with('@');
        let path = dotted(text.trim_start_matches('@'));
        let mut after = text[path.len() + usize::from(is_variable)..].trim_start();
        let mut operators: Vec<Cow<str>> = Vec::new();
        let begins =
            op_name(path).starts_with(|first: char| first.is_ascii_uppercase()) || path.contains('.');
        if !is_variable && path.is_empty() {
            // This text begins with a parenthesis, a list, a string or another symbol, not with a name.
            let rest = skip_value(text);
            let inside = if text.starts_with('(') { &text[1..text.len() - rest.len()] } else { "" };
            return Value { nodes: Vec::new(), name: None, inside: vec![inside], after: rest };
        }
        if is_variable && let Some(list) = after.strip_prefix("in ") {
            let list = list.trim_start();
            let end = list.find('[').unwrap_or(list.len());
            after = skip_value(&list[end..]);
            group("", &list[..list.len() - after.len()], &mut operators);
            // Versions of one operator count once: `[Split@13, Split@18]`.
            operators.dedup();
            after = after.trim_start();
        } else if !is_variable && path.ends_with('.') && after.starts_with('[') {
            let list = after;
            after = skip_value(list);
            group(path, &list[..list.len() - after.len()], &mut operators);
            after = after.trim_start();
        } else if !is_variable && begins && after.starts_with(['(', '<', '@', ':']) {
            operators.push(op_name(path).into());
        }
        after = after.trim_start_matches(['?', '.']);
        if let Some(version) = after.strip_prefix(['@', ':']).filter(|_| !operators.is_empty() || is_variable)
        {
            after = version[word(version).len()..].trim_start();
        }
        if (!operators.is_empty() || is_variable)
            && let Some(attrs) = after.strip_prefix('<')
        {
            after = close(attrs, '>').map_or("", |at| attrs[at + 1..].trim_start());
        }
        let rest = if after.starts_with('(') { skip_value(after) } else { after };
        let inside = after[..after.len() - rest.len()].trim_start_matches('(');
        let is_name = operators.is_empty() && !is_variable && rest.len() == after.len();
        let nodes = if operators.is_empty() { Vec::new() } else { vec![operators] };
        Value { nodes, name: is_name.then_some(path), inside: vec![inside], after: rest }
    }
}

/// Reads a binary operator symbol; returns the ONNX operator's name, and the text after the symbol.
fn sign_at(text: &str) -> Option<(&'static str, &str)> {
    let text = skip_blank(text);
    SIGNS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)))
}

/// Reads a group of operators: `[Add, Sub@7]`, `aten.[relu, add.[Tensor, Scalar]]`.
/// `before` contains the names before the group, with a dot after each.
fn group<'t>(before: &str, mut text: &'t str, operators: &mut Vec<Cow<'t, str>>) {
    loop {
        text = skip_blank(text.trim_start_matches([',', ']'])).trim_start_matches(',');
        let path = dotted(text);
        let after = &text[path.len()..];
        if after.starts_with('[') {
            let rest = skip_value(after);
            let inside = &after[1..after.len() - rest.len()];
            group(&format!("{before}{path}"), inside, operators);
            text = rest;
        } else if path.is_empty() {
            return;
        } else {
            operators.push(match before {
                "" => op_name(path).into(),
                _ => op_name(&format!("{before}{path}")).to_owned().into(),
            });
            text = after.trim_start_matches(|char: char| is_word(char) || "@:.".contains(char)).trim_start();
        }
    }
}

/// Returns the position of the first character `sign` outside of strings.
fn close(text: &str, sign: char) -> Option<usize> {
    let mut in_string = false;
    text.char_indices().find_map(|(at, char)| {
        in_string ^= char == '"';
        (char == sign && !in_string).then_some(at)
    })
}

/// Returns the leading words, with the dots between and after them.
fn dotted(text: &str) -> &str {
    let end = text.find(|char: char| !is_word(char) && char != '.').unwrap_or(text.len());
    &text[..end]
}

/// Removes the domain: `FusedConv` for `com.microsoft.FusedConv`, `add.Tensor` for `aten.add.Tensor`.
fn op_name(path: &str) -> &str {
    path.strip_prefix("aten.").unwrap_or_else(|| path.rsplit('.').next().unwrap_or_default())
}
