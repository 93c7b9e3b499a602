//! Outermost operation of a dimension, for code that builds nodes to compute the dimension at run time.

use super::poly::{Atom, Extreme};
use super::{Dim, Symbol};

/// Outermost operation of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A constant.
    Known(i64),
    /// A single symbol.
    Symbol(Symbol),
    /// Terms, each a coefficient and the factors it is multiplied by; a single term has two or more factors
    /// or a coefficient other than 1.
    Sum(Vec<(i64, Vec<Dim>)>),
    /// The quotient of the two operands, rounded down.
    FloorDiv(Dim, Dim),
    /// The minimum of two or more operands.
    Min(Vec<Dim>),
    /// The maximum of two or more operands.
    Max(Vec<Dim>),
}

impl Dim {
    /// Returns the outermost operation; `None` if a `Dim` cannot represent an operand.
    pub fn form(&self) -> Option<Form> {
        if let Some(known) = self.as_const() {
            return Some(Form::Known(known));
        }
        Some(match self.as_atom() {
            Some(Atom::Symbol(symbol)) => Form::Symbol(symbol.clone()),
            Some(Atom::FloorDiv(numerator, divisor)) => Form::FloorDiv(numerator.clone(), divisor.clone()),
            Some(Atom::Extremum(Extreme::Min, operands)) => Form::Min(operands.clone()),
            Some(Atom::Extremum(Extreme::Max, operands)) => Form::Max(operands.clone()),
            None => {
                let poly = self.poly();
                let terms = poly.terms().map(|(monomial, coefficient)| {
                    let factors = monomial.factors().iter();
                    let powers = factors.flat_map(|(atom, power)| (0..*power).map(move |_| atom));
                    let factors: Option<Vec<Dim>> = powers.map(|atom| Dim::from_atom(atom.clone())).collect();
                    Some((coefficient, factors?))
                });
                Form::Sum(terms.collect::<Option<_>>()?)
            }
        })
    }
}
