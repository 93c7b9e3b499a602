//! Constraints of operators on shapes, attributes and constant inputs, as data.
//!
//! The text files of this folder list conditions that every valid call of an operator fulfills. Type
//! constraints are in the generated table. The linter, the verification of `onnx-fix` and the tests read
//! the same entries. The module `parse` describes the language, and `infer/constraints` evaluates it.

mod parse;

use std::sync::{LazyLock, OnceLock};

use rustc_hash::FxHashMap;

/// Text files, each with the domain of its operators.
const FILES: &[(&str, &str)] = &[
    ("", include_str!("convolution.txt")),
    ("", include_str!("elements.txt")),
    ("", include_str!("index.txt")),
    ("", include_str!("layout.txt")),
    ("", include_str!("matrix.txt")),
    ("", include_str!("normalization.txt")),
    ("", include_str!("sequence.txt")),
    ("", include_str!("signal.txt")),
    ("ai.onnx.ml", include_str!("ml.txt")),
    ("com.microsoft", include_str!("microsoft.txt")),
];

/// A line of an entry.
#[derive(Debug)]
pub struct Constraint {
    /// Kind of the line: a requirement or a definition.
    pub kind: Kind,
    /// Condition under which the line applies.
    pub when: Option<Expr>,
    /// Input or attribute that a condition is about; empty for lines of another kind.
    pub subject: &'static str,
    /// Predicate for messages, which follows the subject: "must be positive".
    pub why: &'static str,
    /// The line as written, without its `because` and `if`.
    pub text: &'static str,
}

/// Kind of a constraint line: a requirement or a definition.
#[derive(Debug)]
pub enum Kind {
    /// `W [M, C / @group, K...]`: an input has one of these shapes.
    Shape {
        /// Name of the input.
        input: &'static str,
        /// Allowed shapes; if there is only one shape, it binds its variables.
        shapes: Vec<Vec<Axis>>,
    },
    /// `C -> [M, N]`: an input broadcasts to this shape.
    Broadcasts {
        /// Name of the input.
        input: &'static str,
        /// Shape of the result.
        to: Vec<Axis>,
    },
    /// `let R = len(D)`: a name for an expression.
    Let(&'static str, Expr),
    /// A condition that every call fulfills.
    Holds(Expr),
}

/// An axis of a shape.
#[derive(Debug)]
pub enum Axis {
    /// `_`: any size.
    Any,
    /// `D...`: any number of axes, bound to a variable.
    Rest(&'static str),
    /// `_...`: any number of axes.
    Others,
    /// `M`, `3` or `C / @group`: a size. An unbound variable is bound to the size of the axis.
    Size(Expr),
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// An integer.
    Int(i64),
    /// A string.
    Text(&'static str),
    /// A variable, or in a call the name of an input.
    Name(&'static str),
    /// `@group`: an attribute, or its default.
    Attr(&'static str),
    /// `[1, 2]`.
    List(Vec<Expr>),
    /// `rank(X)`.
    Call(&'static str, Vec<Expr>),
    /// `not e`.
    Not(Box<Expr>),
    /// `a + b`, `a == b`, `a and b`, ….
    Binary(Binary, Box<(Expr, Expr)>),
}

/// Operator of an expression. Arithmetic and comparisons apply to each element of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division, rounded down.
    Div,
    /// Remainder of the division that rounds down.
    Rem,
    /// Equality.
    Eq,
    /// Inequality.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
    /// Membership in a list.
    In,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
}

/// Lines about one operator, which are parsed when they are first used.
#[derive(Default)]
struct Entry {
    texts: Vec<&'static str>,
    parsed: OnceLock<Vec<Constraint>>,
}

/// Entries by domain and operator.
static ENTRIES: LazyLock<FxHashMap<&str, FxHashMap<&str, Entry>>> = LazyLock::new(|| {
    let mut entries: FxHashMap<_, FxHashMap<_, Entry>> = FxHashMap::default();
    for (domain, file) in FILES {
        for (names, text) in parse::entries(file) {
            for name in names.split(',') {
                entries.entry(*domain).or_default().entry(name.trim()).or_default().texts.push(text);
            }
        }
    }
    entries
});

/// Returns the constraints of an operator; empty if it has no entry.
pub fn constraints(domain: &str, op: &str) -> &'static [Constraint] {
    let Some(entry) = ENTRIES.get(domain).and_then(|entries| entries.get(op)) else { return &[] };
    entry.parsed.get_or_init(|| {
        // Lines with errors are skipped; a test parses all lines.
        entry.texts.iter().flat_map(|text| parse::entry(text)).filter_map(Result::ok).collect()
    })
}

/// Returns true if some constraints of an operator hold only for some of its versions.
pub fn depend_on_version(domain: &str, op: &str) -> bool {
    let entry = ENTRIES.get(domain).and_then(|entries| entries.get(op));
    entry.is_some_and(|entry| entry.texts.iter().any(|text| text.contains("version()")))
}

/// Returns the domain and name of every operator with constraints, sorted.
pub fn operators() -> Vec<(&'static str, &'static str)> {
    let all = ENTRIES.iter().flat_map(|(domain, of)| of.keys().map(move |op| (*domain, *op)));
    let mut all: Vec<_> = all.collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests;
