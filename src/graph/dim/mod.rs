//! Symbolic integers: sizes of axes, and elements of shape tensors.
//!
//! A [`Dim`] is a polynomial with integer coefficients over *atoms*. An atom is a symbol, a floor division,
//! a minimum or a maximum; its operands are `Dim`s again. Other operations reduce to these: `ceil(a / b)`
//! is `-floor(-a / b)`, and `a mod b` is `a - b*floor(a / b)`.
//!
//! **Invariant:** a `Dim` is always in canonical form. Expressions that are equal by ring laws, by
//! splitting multiples out of quotients, by nesting of quotients or by sorting and shifting extrema are
//! equal under `==`. [`Dim::equals`] proves strictly more equalities than `==`.
//!
//! **Invariant:** a `Dim` represents its value exactly. Arithmetic returns `None` if a `Dim` cannot represent
//! the result (for example after an overflow, a division by the constant 0, or if it has more than
//! [`MAX_WEIGHT`] parts). A caller that receives `None` must treat the value as unknown. Assignments that
//! make a divisor 0 are ignored: two `Dim`s are equal if they agree wherever both are defined.

mod arith;
mod bounds;
mod compare;
mod display;
mod divide;
mod evaluate;
mod extremum;
mod form;
mod parse;
mod poly;
mod range;
mod shape;
mod symbol;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

pub use bounds::{Bounds, Interval};
pub use compare::Answer;
pub use form::Form;
pub use poly::MAX_WEIGHT;
pub use shape::{Broadcast, Rounding, Window, broadcast, numel};
pub use symbol::{Symbol, SymbolKind};

use poly::{Atom, Poly};

/// A symbolic integer in canonical form; cloning it copies at most a pointer.
///
/// `Ord` is an arbitrary but fixed order (constants first) for sorted output. To compare values, use
/// [`Dim::at_least`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(Repr);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Known(i64),
    /// Never a constant; constants are `Known`.
    Expr(Arc<Expr>),
}

/// A polynomial with its cached weight.
/// Parts are shared, so recounting would visit them once per use.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Expr {
    poly: Poly,
    weight: usize,
}

impl Dim {
    /// Returns the constant `n`.
    pub const fn known(n: i64) -> Self {
        Dim(Repr::Known(n))
    }

    /// Returns the size named `name`, which is at least 0.
    /// The name is used verbatim; to read an expression, use [`Dim::parse`].
    pub fn symbol(name: &str) -> Self {
        Symbol::size(name).into()
    }

    /// Returns the value if `self` is a constant.
    pub fn as_const(&self) -> Option<i64> {
        match self.0 {
            Repr::Known(n) => Some(n),
            Repr::Expr(_) => None,
        }
    }

    /// Returns the symbol if `self` is a single symbol.
    pub fn as_symbol(&self) -> Option<&Symbol> {
        match self.as_atom()? {
            Atom::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    fn as_atom(&self) -> Option<&Atom> {
        match &self.0 {
            Repr::Known(_) => None,
            Repr::Expr(expr) => expr.poly.as_atom(),
        }
    }

    fn poly(&self) -> Cow<'_, Poly> {
        match &self.0 {
            Repr::Known(n) => Cow::Owned(Poly::constant(*n)),
            Repr::Expr(expr) => Cow::Borrowed(&expr.poly),
        }
    }

    fn weight(&self) -> usize {
        match &self.0 {
            Repr::Known(_) => 1,
            Repr::Expr(expr) => expr.weight,
        }
    }

    /// Converts a polynomial; `None` if the polynomial is too large.
    /// A polynomial with symbols is too large if its weight exceeds [`MAX_WEIGHT`] or its constant term
    /// exceeds `MAX_CONSTANT`.
    fn from_poly(poly: Poly) -> Option<Self> {
        if let Some(n) = poly.as_const() {
            return Some(Dim::known(n));
        }
        if poly.constant_part().unsigned_abs() > poly::MAX_CONSTANT {
            return None;
        }
        let weight = poly.weight();
        (weight <= MAX_WEIGHT).then(|| Dim(Repr::Expr(Arc::new(Expr { poly, weight }))))
    }

    fn from_atom(atom: Atom) -> Option<Self> {
        Dim::from_poly(Poly::atom(atom))
    }
}

impl From<i64> for Dim {
    fn from(n: i64) -> Self {
        Dim::known(n)
    }
}

impl From<Symbol> for Dim {
    fn from(symbol: Symbol) -> Self {
        let poly = Poly::atom(Atom::Symbol(symbol));
        let weight = poly.weight();
        Dim(Repr::Expr(Arc::new(Expr { poly, weight })))
    }
}

/// Clones, so that operands can be given as `2`, `&dim` or `dim`.
impl From<&Dim> for Dim {
    fn from(dim: &Dim) -> Self {
        dim.clone()
    }
}
