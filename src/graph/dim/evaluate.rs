//! Symbols of an expression, substitution and evaluation.

use std::collections::BTreeSet;

use super::extremum::extremum;
use super::poly::{Atom, Extreme};
use super::{Dim, Repr, Symbol};

impl Dim {
    /// Returns the symbols in the expression, sorted and without duplicates.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        let mut symbols = BTreeSet::new();
        self.collect_symbols(&mut symbols);
        symbols.into_iter()
    }

    /// Returns true if `symbol` occurs in the expression.
    pub fn contains(&self, symbol: &Symbol) -> bool {
        self.symbols().any(|s| s == symbol)
    }

    fn collect_symbols<'a>(&'a self, symbols: &mut BTreeSet<&'a Symbol>) {
        let Repr::Expr(expr) = &self.0 else { return };
        for atom in expr.poly.atoms() {
            match atom {
                Atom::Symbol(symbol) => {
                    symbols.insert(symbol);
                }
                Atom::FloorDiv(n, d) => {
                    n.collect_symbols(symbols);
                    d.collect_symbols(symbols);
                }
                Atom::Extremum(_, args) => args.iter().for_each(|arg| arg.collect_symbols(symbols)),
            }
        }
    }

    /// Substitutes all symbols for which `image` returns a value, simultaneously.
    /// Returns `None` if a divisor becomes the constant 0 or a `Dim` cannot represent the result.
    pub fn substitute(&self, image: &dyn Fn(&Symbol) -> Option<Dim>) -> Option<Dim> {
        if self.symbols().all(|symbol| image(symbol).is_none()) {
            return Some(self.clone());
        }
        let of_atom = |atom: &Atom| {
            let dim = match atom {
                Atom::Symbol(symbol) => image(symbol).unwrap_or_else(|| symbol.clone().into()),
                Atom::FloorDiv(n, d) => n.substitute(image)?.floor_div(d.substitute(image)?)?,
                Atom::Extremum(which, args) => {
                    extremum(*which, args.iter().map(|arg| arg.substitute(image)).collect::<Option<_>>()?)?
                }
            };
            Some(dim.poly().into_owned())
        };
        Dim::from_poly(self.poly().map_atoms(of_atom)?)
    }

    /// Evaluates the expression with the symbol values that `value` returns.
    /// Returns `None` if a symbol has no value, a divisor is 0, or a number overflows.
    pub fn eval(&self, value: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i64> {
        if let Some(n) = self.as_const() {
            return Some(n);
        }
        let mut sum: i128 = 0;
        for (monomial, coefficient) in self.poly().terms() {
            let mut product = i128::from(coefficient);
            for (atom, power) in monomial.factors() {
                let factor = i128::from(eval_atom(atom, value)?);
                product = product.checked_mul(factor.checked_pow(*power)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        i64::try_from(sum).ok()
    }
}

fn eval_atom(atom: &Atom, value: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i64> {
    match atom {
        Atom::Symbol(symbol) => value(symbol),
        Atom::FloorDiv(n, d) => Dim::known(n.eval(value)?).floor_div(d.eval(value)?)?.as_const(),
        Atom::Extremum(which, args) => {
            let values = args.iter().map(|arg| arg.eval(value)).collect::<Option<Vec<i64>>>()?;
            match which {
                Extreme::Min => values.into_iter().min(),
                Extreme::Max => values.into_iter().max(),
            }
        }
    }
}
