//! Constraints on operators and attributes that are not in the schemas, from two tables.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

type Table = FxHashMap<&'static str, &'static str>;

fn read(text: &'static str) -> Table {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t')).collect()
}

static OPERATORS: LazyLock<Table> = LazyLock::new(|| read(include_str!("operators.tsv")));
static ATTRIBUTES: LazyLock<Table> = LazyLock::new(|| read(include_str!("attributes.tsv")));

/// Constraints on one input.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Pattern of the shape, as described in `operators.tsv`.
    pub shape: &'static str,
    /// Kind of elements, as described in `operators.tsv`; empty for any elements.
    pub fill: &'static str,
    /// Whether the input is mostly a constant.
    pub is_constant: bool,
}

/// Returns the constraints on an input of an operator.
/// The last pattern that the table lists for the operator also applies to later inputs.
pub fn input(op: &str, position: usize) -> Wanted {
    let otherwise = if position == 0 { "?" } else { "~" };
    let listed = OPERATORS.get(op).and_then(|inputs| {
        let inputs: Vec<&'static str> = inputs.split_whitespace().collect();
        inputs.get(position).or(inputs.last()).copied()
    });
    let (shape, fill) = match listed.unwrap_or(otherwise).split_once(':') {
        Some(both) => both,
        None => (listed.unwrap_or(otherwise), ""),
    };
    let (shape, fill) = (shape.trim_end_matches('!'), fill);
    Wanted { shape, fill: fill.trim_end_matches('!'), is_constant: fill.ends_with('!') }
}

/// Returns the constraints on an attribute; `None` if the table has no constraints on it.
pub fn attribute(op: &str, name: &str) -> Option<&'static str> {
    ATTRIBUTES.get(&*format!("{op}.{name}")).or_else(|| ATTRIBUTES.get(name)).copied()
}

/// Returns the operators that a table names, but that have no schema.
pub fn unknown(known: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let operators = OPERATORS.keys().copied();
    let owners = ATTRIBUTES.keys().filter_map(|name| name.split_once('.')).map(|(op, _)| op);
    let mut unknown: Vec<_> = operators.chain(owners).filter(|op| !known(op)).collect();
    unknown.sort_unstable();
    unknown
}
