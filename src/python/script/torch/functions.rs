//! Table of functions: the shapes that their operands have, and the shapes and dtypes of their results.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::super::tensor::Dim;

/// Table whose first lines explain it.
const TABLE: &str = include_str!("functions.txt");

/// One form of a function.
#[derive(Debug)]
pub struct Form {
    pub parameters: Vec<Parameter>,
    pub results: Vec<Output>,
    /// Whether operands that do not fit are an error.
    pub is_strict: bool,
}

/// Name and kind of a parameter.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
}

/// Kind of a parameter.
#[derive(Debug)]
pub enum Kind {
    /// The argument does not change the result.
    Ignored,
    /// The argument is a tensor with these axes.
    Tensor(Vec<Axis>),
    /// The argument is no tensor.
    Plain,
    /// The argument is an integer, which has a default.
    Int(Option<i64>),
    /// The argument is one of these values; whether one of them is the default.
    Values(Vec<&'static str>, bool),
    /// The argument is the reduction of a loss.
    Loss,
}

/// Item of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Any number of axes.
    Batch(&'static str),
    /// One axis: a name, a number or an expression.
    Size(&'static str),
    /// Any shape.
    Unknown,
}

/// A result of a function.
#[derive(Debug)]
pub struct Output {
    pub name: Option<&'static str>,
    pub axes: Vec<Axis>,
    /// Changes of the dtype of the first operand.
    pub dtype: Vec<&'static str>,
}

/// The table, as read.
#[derive(Default)]
struct Functions {
    forms: FxHashMap<&'static str, Vec<&'static Form>>,
    aliases: FxHashMap<&'static str, &'static str>,
    orders: FxHashMap<&'static str, Vec<&'static str>>,
}

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let mut functions = Functions::default();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((alias, name)) = line.strip_prefix("alias ").and_then(|line| line.split_once(" = ")) {
            functions.aliases.insert(alias, name);
        } else if let Some((name, order)) =
            line.strip_prefix("order ").and_then(|line| line.split_once(" = "))
        {
            functions.orders.insert(name, order.split(' ').collect());
        } else if let Some((names, form)) = form(line) {
            let form: &'static Form = Box::leak(Box::new(form));
            for name in names.split(' ') {
                functions.forms.entry(name).or_default().push(form);
            }
        }
    }
    functions
});

/// Returns the forms of a function.
pub fn forms(name: &str) -> &'static [&'static Form] {
    FUNCTIONS.forms.get(name).map_or(&[], Vec::as_slice)
}

/// Returns the name under which the interpreter knows a function.
pub fn canonical(name: &str) -> &str {
    let own = name.strip_prefix("special.").unwrap_or(name);
    FUNCTIONS.aliases.get(own).copied().unwrap_or(own)
}

/// Returns the names of the parameters of a function whose arguments must be positional.
pub fn order(name: &str) -> Option<&'static [&'static str]> {
    FUNCTIONS.orders.get(name).map(Vec::as_slice)
}

/// Reads a line of the table.
fn form(line: &'static str) -> Option<(&'static str, Form)> {
    let (line, is_strict) = match line.strip_prefix('~') {
        Some(line) => (line, false),
        None => (line, true),
    };
    let (head, results) = line.split_once(") -> ")?;
    let (names, parameters) = head.split_once('(')?;
    let parameters = parameters.split(", ").map(parameter).collect();
    let results = results.split("; ").map(output).collect();
    Some((names, Form { parameters, results, is_strict }))
}

fn parameter(text: &'static str) -> Parameter {
    if let Some((name, pattern)) = text.split_once(": ") {
        return Parameter { name, kind: Kind::Tensor(axes(pattern)) };
    }
    if let Some((name, values)) = text.split_once('=') {
        let own = values.strip_suffix('*');
        let list = own.unwrap_or(values).split('/').collect();
        return Parameter { name, kind: Kind::Values(list, own.is_some()) };
    }
    let (name, kind) = text.split_once(' ').unwrap_or((text, ""));
    let kind = match kind.split_once(' ') {
        Some((_, default)) => Kind::Int(default.parse().ok()),
        None if kind == "int" => Kind::Int(None),
        None if kind == "loss" => Kind::Loss,
        None if name.ends_with('!') => Kind::Plain,
        None => Kind::Ignored,
    };
    Parameter { name: name.trim_end_matches('!'), kind }
}

fn output(text: &'static str) -> Output {
    let (text, dtype) = text.split_once(" <").unwrap_or((text, ""));
    let (name, pattern) = match text.split_once(": ") {
        Some((name, pattern)) => (Some(name), pattern),
        None => (None, text),
    };
    Output { name, axes: axes(pattern), dtype: dtype.trim_end_matches('>').split_whitespace().collect() }
}

fn axes(pattern: &'static str) -> Vec<Axis> {
    let axis = |word: &'static str| match word {
        "?" => Axis::Unknown,
        word if word.starts_with('*') => Axis::Batch(word),
        word => Axis::Size(word),
    };
    pattern.split(' ').filter(|word| *word != "()").map(axis).collect()
}

/// Returns the value of an expression of named sizes, such as `min(m,n)`, `n+1` and `3`.
pub fn value(expression: &str, sizes: &FxHashMap<&'static str, Dim>) -> Dim {
    if let Ok(number) = expression.parse() {
        return Some(number);
    }
    let inner = |name: &str| expression.strip_prefix(name)?.strip_suffix(')');
    if let Some((a, b)) = inner("min(").and_then(|both| both.split_once(',')) {
        return Some(value(a, sizes)?.min(value(b, sizes)?));
    }
    if let Some(count) = inner("pairs(") {
        let count = value(count, sizes)?;
        return Some(count.checked_mul(count - 1)? / 2);
    }
    if let Some((a, b)) = expression.split_once('+') {
        return value(a, sizes)?.checked_add(value(b, sizes)?);
    }
    sizes.get(expression).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::{Axis, FUNCTIONS, Kind, TABLE, forms, value};

    #[test]
    fn every_line_of_the_table_is_read() {
        let is_form = |line: &&str| line.contains("->") && !line.starts_with('#');
        for line in TABLE.lines().filter(is_form) {
            let name = line.trim_start_matches('~').split(['(', ' ']).next().unwrap_or("");
            assert!(!forms(name).is_empty(), "{line}");
        }
        assert!(FUNCTIONS.aliases.len() > 20);
    }

    #[test]
    fn results_use_only_axes_of_parameters() {
        for form in FUNCTIONS.forms.values().flatten() {
            let mut known = vec![];
            let mut sizes = rustc_hash::FxHashMap::default();
            for parameter in &form.parameters {
                match &parameter.kind {
                    Kind::Tensor(axes) => known.extend(axes),
                    Kind::Int(_) => known.push(Axis::Size(parameter.name)),
                    _ => {}
                }
            }
            for axis in &known {
                if let Axis::Size(name) = axis {
                    sizes.insert(*name, Some(2));
                }
            }
            for axis in form.results.iter().flat_map(|result| &result.axes) {
                match axis {
                    Axis::Batch(_) => assert!(known.contains(axis), "{form:?}"),
                    Axis::Size(size) => assert!(value(size, &sizes).is_some(), "{form:?}"),
                    Axis::Unknown => {}
                }
            }
        }
    }
}
