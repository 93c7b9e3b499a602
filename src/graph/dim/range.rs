//! Range analysis of symbolic integers.
//!
//! Adding the ranges of the terms ignores that terms depend on each other. Two techniques tighten the
//! range. Shifting atoms to a lower bound of 0: with `t = t' + 1`, `s*t - s` is `s*t'`. Replacing a compound
//! atom by its definition turns `2*floor(s / 2)` into `s - m` with `0 <= m <= 1`, and `max(a, b)`
//! into `a` or `b`.

use std::cell::Cell;

use super::poly::{Atom, Extreme, Monomial, Poly};
use super::{Bounds, Dim, Interval};

/// Maximum number of polynomials in which a compound atom is replaced to compute one range.
const MAX_POLYNOMIALS: u32 = 64;

/// Maximum number of compound atoms replaced in sequence.
const MAX_DEPTH: u32 = 6;

impl Dim {
    /// Returns an interval that contains every possible value, with symbols within `bounds`.
    /// The interval is sound but not always the tightest.
    pub fn range(&self, bounds: &Bounds) -> Interval {
        Ranger { bounds, fuel: Cell::new(MAX_POLYNOMIALS) }.of_dim(self, MAX_DEPTH)
    }

    /// Returns true if the range proves that the value is at least 0 under the default bounds.
    /// Tries the term ranges first, which are usually sufficient.
    pub(super) fn is_never_negative(&self) -> bool {
        let ranger = Ranger { bounds: &Bounds::default(), fuel: Cell::new(MAX_POLYNOMIALS) };
        [0, MAX_DEPTH].into_iter().any(|depth| ranger.of_dim(self, depth).lo.is_some_and(|lo| lo >= 0))
    }
}

struct Ranger<'a> {
    bounds: &'a Bounds,
    fuel: Cell<u32>,
}

impl Ranger<'_> {
    fn of_poly(&self, poly: &Poly, depth: u32) -> Interval {
        if let Some(n) = poly.as_const() {
            return Interval::point(n);
        }
        let atoms: Vec<(&Atom, Interval)> =
            poly.atoms().into_iter().map(|atom| (atom, self.of_atom(atom, depth))).collect();
        let mut range = termwise(poly, &atoms);
        if let Some(moved) = moved_to_zero(poly, &atoms) {
            range = range.intersect(&moved);
        }
        let Some(fuel) = self.fuel.get().checked_sub(1).filter(|_| depth > 0) else { return range };
        self.fuel.set(fuel);
        // Try the greatest atom first: it may contain the others.
        let replaced = atoms.iter().rev().find_map(|(atom, _)| self.without(poly, atom, depth - 1));
        replaced.map_or(range, |replaced| range.intersect(&replaced))
    }

    fn of_dim(&self, dim: &Dim, depth: u32) -> Interval {
        self.of_poly(&dim.poly(), depth)
    }

    fn of_atom(&self, atom: &Atom, depth: u32) -> Interval {
        let inner = depth.saturating_sub(1);
        match atom {
            Atom::Symbol(symbol) => self.bounds.of(symbol),
            Atom::FloorDiv(n, d) => self.of_dim(n, inner).floor_div(&self.of_dim(d, inner)),
            Atom::Extremum(which, args) => {
                let ranges = args.iter().map(|arg| self.of_dim(arg, inner));
                extremum(*which, ranges).unwrap_or(Interval::ALL)
            }
        }
    }

    /// Returns the range of `poly` with an atom replaced by its definition; `None` if that proves no range.
    fn without(&self, poly: &Poly, atom: &Atom, depth: u32) -> Option<Interval> {
        match atom {
            Atom::Symbol(_) => None,
            Atom::FloorDiv(n, d) => self.without_quotient(poly, atom, n, d, depth),
            Atom::Extremum(which, args) => self.without_extremum(poly, atom, *which, args, depth),
        }
    }

    /// Replaces a quotient `f = floor(n / d)` with `d > 0` in `poly = c*f + r`.
    /// There is an `m` in `0..d` with `n = d*f + m`. So if `s*c = e*d`, then `s*poly = e*n + s*r - e*m`.
    fn without_quotient(&self, poly: &Poly, f: &Atom, n: &Dim, d: &Dim, depth: u32) -> Option<Interval> {
        if self.of_dim(d, 0).lo.is_none_or(|lo| lo < 0) {
            return None; // a divisor is never 0
        }
        let (c, r) = linear_in(poly, f)?;
        let (s, e) = match d.as_const() {
            Some(s) => (s, c),
            None => (1, c.div_rem(&d.poly()).filter(|(_, rest)| rest.is_zero())?.0),
        };
        let at_zero = e.mul(&n.poly())?.add_scaled(&r, s)?;
        let largest = d.sub(1)?;
        let at_largest = at_zero.clone().add_scaled(&e.mul(&largest.poly())?, -1)?;
        let (low, high) = match self.of_poly(&e, 0) {
            Interval { lo: Some(lo), .. } if lo >= 0 => (at_largest, at_zero),
            Interval { hi: Some(hi), .. } if hi <= 0 => (at_zero, at_largest),
            _ => return None,
        };
        let (lo, hi) = (self.of_poly(&low, depth).lo, self.of_poly(&high, depth).hi);
        Some(Interval { lo, hi }.shrink(s))
    }

    /// Replaces an extremum by each of its arguments and combines the ranges.
    /// If `poly` grows with a maximum, `poly` with any argument in place of the maximum is a lower bound.
    fn without_extremum(
        &self,
        poly: &Poly,
        atom: &Atom,
        which: Extreme,
        args: &[Dim],
        depth: u32,
    ) -> Option<Interval> {
        let with = |arg: &Dim| {
            poly.map_atoms(|a| Some(if a == atom { arg.poly().into_owned() } else { Poly::atom(a.clone()) }))
        };
        let ranges: Vec<Interval> =
            args.iter().map(|arg| Some(self.of_poly(&with(arg)?, depth))).collect::<Option<_>>()?;
        let growth = linear_in(poly, atom).map_or(Interval::ALL, |(factor, _)| self.of_poly(&factor, 0));
        let grows = growth.lo.is_some_and(|lo| lo >= 0);
        let falls = growth.hi.is_some_and(|hi| hi <= 0);
        match (which, grows, falls) {
            (_, true, _) => extremum(which, ranges.into_iter()),
            (Extreme::Max, _, true) => extremum(Extreme::Min, ranges.into_iter()),
            (Extreme::Min, _, true) => extremum(Extreme::Max, ranges.into_iter()),
            _ => ranges.into_iter().reduce(|a, b| Interval {
                lo: a.lo.and_then(|a| b.lo.map(|b| a.min(b))),
                hi: a.hi.and_then(|a| b.hi.map(|b| a.max(b))),
            }),
        }
    }
}

/// Returns the range of the minimum or maximum of several numbers, one from each interval.
fn extremum(which: Extreme, ranges: impl Iterator<Item = Interval>) -> Option<Interval> {
    ranges.reduce(|a, b| match which {
        Extreme::Min => Interval {
            lo: a.lo.and_then(|a| b.lo.map(|b| a.min(b))),
            hi: [a.hi, b.hi].into_iter().flatten().min(),
        },
        Extreme::Max => Interval { lo: a.lo.max(b.lo), hi: a.hi.and_then(|a| b.hi.map(|b| a.max(b))) },
    })
}

/// Returns the sum of the ranges of the terms.
fn termwise(poly: &Poly, atoms: &[(&Atom, Interval)]) -> Interval {
    let of_atom = |atom: &Atom| {
        let found = atoms.binary_search_by(|(a, _)| (*a).cmp(atom));
        found.map_or(Interval::ALL, |i| atoms[i].1)
    };
    let of_term = |(monomial, coefficient): (&Monomial, i64)| {
        let factors = monomial.factors().iter().map(|(atom, power)| of_atom(atom).pow(*power));
        factors.fold(Interval::point(coefficient), |product, factor| product.mul(&factor))
    };
    poly.terms().map(of_term).fold(Interval::point(0), |sum, term| sum.add(&term))
}

/// Returns the range of the polynomial in `a' = a - lo`, where `lo` is the lower bound of the atom `a`.
/// Returns `None` if all lower bounds are 0 or unbounded, or a number overflows.
fn moved_to_zero(poly: &Poly, atoms: &[(&Atom, Interval)]) -> Option<Interval> {
    let low = |range: &Interval| range.lo.unwrap_or(0);
    if atoms.iter().all(|(_, range)| low(range) == 0) {
        return None;
    }
    let moved = poly.map_atoms(|atom| {
        let found = atoms.binary_search_by(|(a, _)| (*a).cmp(atom)).ok()?;
        Poly::constant(low(&atoms[found].1)).add_scaled(&Poly::atom(atom.clone()), 1)
    })?;
    let shift = |range: &Interval| Some(range.add(&Interval::point(low(range).checked_neg()?)));
    let atoms: Vec<(&Atom, Interval)> =
        atoms.iter().map(|(atom, range)| Some((*atom, shift(range)?))).collect::<Option<_>>()?;
    Some(termwise(&moved, &atoms))
}

/// Splits `poly = factor * atom + rest`, where neither part contains the atom.
fn linear_in(poly: &Poly, atom: &Atom) -> Option<(Poly, Poly)> {
    let itself = Monomial::of(atom.clone());
    let (mut factor, mut rest) = (Poly::default(), Poly::default());
    for (monomial, coefficient) in poly.terms() {
        match monomial.power_of(atom) {
            0 => rest.add_term(monomial.clone(), coefficient)?,
            1 => factor.add_term(monomial.quotient(&itself)?, coefficient)?,
            _ => return None,
        }
    }
    Some((factor, rest))
}
