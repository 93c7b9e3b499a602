//! Polynomials with `i64` coefficients over atoms, with ring arithmetic only.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Dim, Symbol};

/// Maximum number of parts (coefficients, symbols, operations) of an expression.
/// Expressions in real models have fewer than 40 parts. Larger expressions are treated as unknown.
pub const MAX_WEIGHT: usize = 256;

/// Maximum absolute constant term of an expression with symbols.
/// Real sizes are much smaller, and larger terms could overflow sums.
pub const MAX_CONSTANT: u64 = 1 << 62;

/// Indeterminate of a polynomial.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    Symbol(Symbol),
    /// `floor(numerator / divisor)`, reduced by [`Dim::floor_div`].
    FloorDiv(Dim, Dim),
    /// Two or more arguments, sorted and shifted by [`super::extremum`].
    Extremum(Extreme, Vec<Dim>),
}

/// Whether an extremum is a minimum or a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Extreme {
    Min,
    Max,
}

impl Atom {
    fn weight(&self) -> usize {
        match self {
            Atom::Symbol(_) => 1,
            Atom::FloorDiv(n, d) => 1 + n.weight() + d.weight(),
            Atom::Extremum(_, args) => 1 + args.iter().map(Dim::weight).sum::<usize>(),
        }
    }
}

/// A product of powers of atoms, sorted by atom, with exponents of at least 1; 1 if empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monomial(Vec<(Atom, u32)>);

impl Monomial {
    /// Returns the monomial of one atom.
    pub fn of(atom: Atom) -> Self {
        Monomial(vec![(atom, 1)])
    }

    /// Returns the atoms with their powers, sorted by atom.
    pub fn factors(&self) -> &[(Atom, u32)] {
        &self.0
    }

    /// Returns true if the monomial has no factors, so that it is 1.
    pub fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    fn degree(&self) -> u32 {
        self.0.iter().map(|(_, power)| power).sum()
    }

    /// Returns the power of an atom; 0 if it is not a factor.
    pub fn power_of(&self, atom: &Atom) -> u32 {
        self.0.iter().find(|(a, _)| a == atom).map_or(0, |(_, power)| *power)
    }

    /// Returns the product of two monomials.
    pub fn times(&self, other: &Monomial) -> Monomial {
        let mut powers: BTreeMap<&Atom, u32> = BTreeMap::new();
        for (atom, power) in self.0.iter().chain(&other.0) {
            *powers.entry(atom).or_default() += power;
        }
        Monomial(powers.into_iter().map(|(atom, power)| (atom.clone(), power)).collect())
    }

    /// Returns `self / divisor` if that is a monomial.
    pub fn quotient(&self, divisor: &Monomial) -> Option<Monomial> {
        if divisor.0.iter().any(|(atom, power)| self.power_of(atom) < *power) {
            return None;
        }
        let rest = self.0.iter().map(|(atom, power)| (atom, power - divisor.power_of(atom)));
        Some(Monomial(rest.filter(|(_, power)| *power > 0).map(|(a, p)| (a.clone(), p)).collect()))
    }

    /// Returns the greatest common divisor.
    pub fn gcd(&self, other: &Monomial) -> Monomial {
        let common = self.0.iter().map(|(atom, power)| (atom, *power.min(&other.power_of(atom))));
        Monomial(common.filter(|(_, power)| *power > 0).map(|(a, p)| (a.clone(), p)).collect())
    }

    /// Returns the factors whose atom `keep` accepts.
    pub fn filter(&self, keep: impl Fn(&Atom) -> bool) -> Monomial {
        Monomial(self.0.iter().filter(|(atom, _)| keep(atom)).cloned().collect())
    }
}

/// Graded lexicographic order: higher degree first, then by atoms.
/// Terms are printed in graded lexicographic order. Division with remainder requires an admissible order,
/// which graded lexicographic order is.
impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_degree = other.degree().cmp(&self.degree());
        let pairs = self.0.iter().zip(&other.0);
        pairs.fold(by_degree, |order, ((a, i), (b, j))| order.then_with(|| a.cmp(b)).then_with(|| j.cmp(i)))
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A sum of terms, leading term first; no coefficient is 0. Operations return `None` on overflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Poly(BTreeMap<Monomial, i64>);

impl Poly {
    /// Returns the polynomial of a constant.
    pub fn constant(n: i64) -> Self {
        Poly::term(Monomial::default(), n)
    }

    /// Returns the polynomial of one atom.
    pub fn atom(atom: Atom) -> Self {
        Poly::term(Monomial::of(atom), 1)
    }

    /// Returns the polynomial of one term.
    pub fn term(monomial: Monomial, coefficient: i64) -> Self {
        Poly((coefficient != 0).then_some((monomial, coefficient)).into_iter().collect())
    }

    /// Returns the terms with their coefficients, sorted by monomial.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i64)> {
        self.0.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// Returns the first term in monomial order; `None` for zero.
    pub fn leading(&self) -> Option<(&Monomial, i64)> {
        self.terms().next()
    }

    /// Returns true if the polynomial has no terms.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a constant polynomial.
    pub fn as_const(&self) -> Option<i64> {
        match self.leading() {
            None => Some(0),
            Some((monomial, n)) => monomial.is_one().then_some(n),
        }
    }

    /// Returns the atom, if the polynomial is one atom with coefficient 1.
    pub fn as_atom(&self) -> Option<&Atom> {
        match (self.0.len(), self.leading()?.0.factors(), self.leading()?.1) {
            (1, [(atom, 1)], 1) => Some(atom),
            _ => None,
        }
    }

    /// Returns the coefficient of a monomial; 0 if it is absent.
    pub fn coefficient(&self, monomial: &Monomial) -> i64 {
        self.0.get(monomial).copied().unwrap_or(0)
    }

    /// Returns the constant term.
    pub fn constant_part(&self) -> i64 {
        self.coefficient(&Monomial::default())
    }

    /// Returns the atoms of the polynomial, sorted, excluding atoms nested in other atoms.
    pub fn atoms(&self) -> Vec<&Atom> {
        let factors = self.0.keys().flat_map(|monomial| monomial.factors());
        let mut atoms: Vec<&Atom> = factors.map(|(atom, _)| atom).collect();
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// Returns the number of terms and factors, limited by [`MAX_WEIGHT`].
    ///
    /// A power counts as repeated factors.
    pub fn weight(&self) -> usize {
        let of_factor = |(atom, power): &(Atom, u32)| atom.weight() * *power as usize;
        self.0.keys().map(|m| 1 + m.factors().iter().map(of_factor).sum::<usize>()).sum()
    }

    /// Adds a term; returns `None` on overflow.
    pub fn add_term(&mut self, monomial: Monomial, coefficient: i64) -> Option<()> {
        let sum = self.coefficient(&monomial).checked_add(coefficient)?;
        if sum == 0 {
            self.0.remove(&monomial);
        } else {
            self.0.insert(monomial, sum);
        }
        Some(())
    }

    /// Returns `self + factor * other`.
    pub fn add_scaled(mut self, other: &Poly, factor: i64) -> Option<Poly> {
        for (monomial, coefficient) in other.terms() {
            self.add_term(monomial.clone(), coefficient.checked_mul(factor)?)?;
        }
        Some(self)
    }

    /// Multiplies by a number; returns `None` on overflow.
    pub fn scale(&self, factor: i64) -> Option<Poly> {
        Poly::default().add_scaled(self, factor)
    }

    /// Returns the product of two polynomials.
    /// Returns `None` on overflow or if there are more than [`MAX_WEIGHT`] terms.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (a, i) in self.terms() {
            for (b, j) in other.terms() {
                product.add_term(a.times(b), i.checked_mul(j)?)?;
            }
            product.within_limit()?;
        }
        Some(product)
    }

    /// Replaces every atom by a polynomial.
    pub fn map_atoms(&self, mut image: impl FnMut(&Atom) -> Option<Poly>) -> Option<Poly> {
        let mut sum = Poly::default();
        for (monomial, coefficient) in self.terms() {
            let mut product = Poly::constant(coefficient);
            for (atom, power) in monomial.factors() {
                let factor = image(atom)?;
                for _ in 0..*power {
                    product = product.mul(&factor)?;
                }
            }
            sum = sum.add_scaled(&product, 1)?;
            sum.within_limit()?;
        }
        Some(sum)
    }

    /// Divides with remainder: `self = quotient * divisor + remainder`.
    /// The divisor's leading coefficient `c` must be positive. In the remainder, each multiple of the
    /// divisor's leading monomial has a coefficient in `0..c`.
    pub fn div_rem(&self, divisor: &Poly) -> Option<(Poly, Poly)> {
        let (lead, lead_coefficient) = divisor.leading()?;
        let (mut rest, mut quotient, mut remainder) = (self.clone(), Poly::default(), Poly::default());
        while let Some((monomial, coefficient)) = rest.0.pop_first() {
            let times = coefficient.checked_div_euclid(lead_coefficient)?;
            let Some(ratio) = monomial.quotient(lead).filter(|_| times != 0) else {
                remainder.add_term(monomial, coefficient)?;
                continue;
            };
            remainder.add_term(monomial, coefficient.rem_euclid(lead_coefficient))?;
            for (tail, c) in divisor.terms().skip(1) {
                rest.add_term(tail.times(&ratio), c.checked_mul(times)?.checked_neg()?)?;
            }
            quotient.add_term(ratio, times)?;
            quotient.within_limit()?;
            rest.within_limit()?;
        }
        Some((quotient, remainder))
    }

    /// Divides every coefficient by `n`, rounding down.
    pub fn div_coefficients(&self, n: i64) -> Option<Poly> {
        let mut result = Poly::default();
        for (monomial, coefficient) in self.terms() {
            result.add_term(monomial.clone(), coefficient.checked_div_euclid(n)?)?;
        }
        Some(result)
    }

    fn within_limit(&self) -> Option<()> {
        (self.0.len() <= MAX_WEIGHT).then_some(())
    }
}

/// Adds terms, whose monomials must be new.
impl Extend<(Monomial, i64)> for Poly {
    fn extend<T: IntoIterator<Item = (Monomial, i64)>>(&mut self, terms: T) {
        self.0.extend(terms);
    }
}

/// Returns the greatest common divisor of the monomials.
pub(super) fn common_monomial<'a>(mut monomials: impl Iterator<Item = &'a Monomial>) -> Monomial {
    let first = monomials.next().cloned().unwrap_or_default();
    monomials.fold(first, |common, monomial| common.gcd(monomial))
}

/// Returns the greatest common divisor of the absolute values; `gcd(0, b) = |b|`.
/// Returns `None` only if the result is 2^63.
pub(super) fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}
