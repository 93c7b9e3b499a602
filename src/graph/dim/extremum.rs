//! Minima and maxima of symbolic integers.
//!
//! Canonical form of `max(a, b, …)` (minima alike):
//! - no argument is itself `max(c, d) + e`: it is replaced by the two arguments `c + e` and `d + e`;
//! - no argument is provably at most another argument under the default bounds: it would not affect the maximum;
//! - common parts of the arguments are moved out: a term present in all of them with the same sign, the
//!   least of the constants, a common factor that is never negative;
//! - `-max(-a, -b)` and `min(a, b)` are equivalent: the canonical form is the one whose sum of the arguments
//!   has a positive leading term, or `max` if the sum is a constant.

use super::Dim;
use super::poly::{Atom, Extreme, Monomial, Poly, common_monomial, gcd};

/// Maximum number of arguments: each is compared with every other.
const MAX_ARGUMENTS: usize = 32;

/// An operand may be given as `2`, `dim` or `&dim`.
/// Returns `None` if a `Dim` cannot represent the result (see the module's invariants).
impl Dim {
    /// Returns the minimum of `self` and `other`.
    pub fn minimum(&self, other: impl Into<Dim>) -> Option<Dim> {
        extremum(Extreme::Min, vec![self.clone(), other.into()])
    }

    /// Returns the maximum of `self` and `other`.
    pub fn maximum(&self, other: impl Into<Dim>) -> Option<Dim> {
        extremum(Extreme::Max, vec![self.clone(), other.into()])
    }
}

impl Extreme {
    fn opposite(self) -> Self {
        match self {
            Extreme::Min => Extreme::Max,
            Extreme::Max => Extreme::Min,
        }
    }
}

/// Returns the minimum or maximum of one or more arguments, in canonical form.
pub(super) fn extremum(which: Extreme, args: Vec<Dim>) -> Option<Dim> {
    let args = without_dominated(which, flatten(which, args)?);
    if let [only] = args.as_slice() {
        return Some(only.clone());
    }
    let mut args: Vec<Poly> = args.iter().map(|arg| arg.poly().into_owned()).collect();
    // After common parts are moved out, more arguments may be flattened or dropped, so start again.
    let again = |which: Extreme, args: Vec<Poly>| {
        extremum(which, args.into_iter().map(Dim::from_poly).collect::<Option<_>>()?)
    };
    let shared = shared_terms(&args);
    if !shared.is_zero() {
        shift(&mut args, &shared)?;
        return again(which, args)?.add(Dim::from_poly(shared)?);
    }
    if is_better_negated(which, &args)? {
        let negated = args.iter().map(|arg| arg.scale(-1)).collect::<Option<_>>()?;
        return again(which.opposite(), negated)?.neg();
    }
    let least = Poly::constant(args.iter().map(Poly::constant_part).min()?);
    shift(&mut args, &least)?;
    let factor = take_factor(&mut args)?;
    let extremum = if factor.as_const() == Some(1) {
        let mut args = args.into_iter().map(Dim::from_poly).collect::<Option<Vec<Dim>>>()?;
        args.sort();
        Dim::from_atom(Atom::Extremum(which, args))?
    } else {
        again(which, args)?.mul(Dim::from_poly(factor)?)?
    };
    extremum.add(Dim::from_poly(least)?)
}

/// Expands nested extrema.
/// In a maximum, nested extrema are `c * max(…) + r` with `c > 0` and `c * min(…) + r` with `c < 0`.
fn flatten(which: Extreme, mut pending: Vec<Dim>) -> Option<Vec<Dim>> {
    let mut flat = Vec::new();
    while let Some(arg) = pending.pop() {
        if flat.len() + pending.len() >= MAX_ARGUMENTS {
            return None;
        }
        match spelt_out(which, &arg.poly()) {
            Some(args) => pending.extend(args?),
            None => flat.push(arg),
        }
    }
    flat.sort();
    flat.dedup();
    Some(flat)
}

fn spelt_out(which: Extreme, arg: &Poly) -> Option<Option<Vec<Dim>>> {
    arg.atoms().into_iter().find_map(|atom| {
        let Atom::Extremum(inner, args) = atom else { return None };
        let itself = Monomial::of(atom.clone());
        let times = arg.coefficient(&itself);
        let oriented = if times < 0 { inner.opposite() } else { *inner };
        let occurrences = arg.terms().filter(|(monomial, _)| monomial.power_of(atom) > 0).count();
        if times == 0 || occurrences > 1 || oriented != which {
            return None;
        }
        let spell = |arg_inside: &Dim| {
            let rest = arg.clone().add_scaled(&Poly::term(itself.clone(), times), -1)?;
            Dim::from_poly(rest.add_scaled(&arg_inside.poly(), times)?)
        };
        Some(args.iter().map(spell).collect())
    })
}

fn without_dominated(which: Extreme, mut args: Vec<Dim>) -> Vec<Dim> {
    let dominates = |a: &Dim, b: &Dim| {
        let lead = if which == Extreme::Max { a.sub(b) } else { b.sub(a) };
        lead.is_some_and(|lead| lead.is_never_negative())
    };
    let mut i = 0;
    while i < args.len() {
        if (0..args.len()).any(|j| j != i && dominates(&args[j], &args[i])) {
            args.remove(i);
        } else {
            i += 1;
        }
    }
    args
}

/// Returns the non-constant terms that all arguments have with the same sign.
/// The coefficient of a shared term is the least one by absolute value among the arguments.
fn shared_terms(args: &[Poly]) -> Poly {
    let mut shared = Poly::default();
    for (monomial, first) in args.first().into_iter().flat_map(Poly::terms) {
        let coefficients = args.iter().map(|arg| arg.coefficient(monomial));
        let least = if first > 0 { coefficients.min() } else { coefficients.max() };
        let least = least.filter(|c| !monomial.is_one() && c.signum() == first.signum());
        shared.extend(least.map(|c| (monomial.clone(), c)));
    }
    shared
}

fn shift(args: &mut [Poly], by: &Poly) -> Option<()> {
    for arg in args {
        *arg = arg.clone().add_scaled(by, -1)?;
    }
    Some(())
}

fn is_better_negated(which: Extreme, args: &[Poly]) -> Option<bool> {
    let sum = args.iter().try_fold(Poly::default(), |sum, arg| sum.add_scaled(arg, 1))?;
    Some(match sum.leading() {
        Some((monomial, coefficient)) if !monomial.is_one() => coefficient < 0,
        _ => which == Extreme::Min,
    })
}

/// Divides the arguments by their greatest never negative common factor; returns this factor.
fn take_factor(args: &mut [Poly]) -> Option<Poly> {
    let number = args.iter().flat_map(Poly::terms).try_fold(0, |number, (_, c)| gcd(number, c))?;
    let never_negative =
        |atom: &Atom| Dim::from_atom(atom.clone()).is_some_and(|dim| dim.is_never_negative());
    let monomials = args.iter().flat_map(Poly::terms).map(|(monomial, _)| monomial);
    let factor = Poly::term(common_monomial(monomials).filter(never_negative), number);
    for arg in args {
        *arg = arg.div_rem(&factor)?.0;
    }
    Some(factor)
}
