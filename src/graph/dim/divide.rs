//! Quotients and remainders of symbolic integers.
//!
//! [`Dim::floor_div`] brings `floor(n / d)` into canonical form:
//! - `d` is a constant above 1, or has a positive leading coefficient;
//! - `n` and `d` have no common factor;
//! - multiples of `d` in `n` are moved out: every coefficient of `n` is in `0..d` for a constant `d`, else
//!   `n` is a remainder of long division by `d`;
//! - for `d > 0`, the leading coefficient of `n` is positive: `floor(-n / d)` becomes
//!   `-floor((n + d - 1) / d)`, so `ceil(s / 2) = -floor(-s / 2)` becomes `floor((s + 1) / 2)`;
//! - for `c > 0`, `floor(floor(a / b) / c)` becomes `floor(a / (b*c))`.

use super::poly::{Atom, Poly, common_monomial, gcd};
use super::{Dim, Repr};

/// An operand may be given as `2`, `dim` or `&dim`.
/// Returns `None` if the divisor is the constant 0 or a `Dim` cannot represent the result (see the
/// module's invariants).
impl Dim {
    /// Returns `self / divisor`, rounded toward negative infinity.
    pub fn floor_div(&self, divisor: impl Into<Dim>) -> Option<Dim> {
        let divisor = divisor.into();
        match (&self.0, &divisor.0) {
            (_, Repr::Known(0)) => return None,
            (Repr::Known(0), _) => return Some(Dim::known(0)),
            (_, Repr::Known(1)) => return Some(self.clone()),
            (Repr::Known(a), Repr::Known(b)) => return floor(*a, *b).map(Dim::known),
            _ => {}
        }
        if leads_negative(&divisor) {
            return self.neg()?.floor_div(divisor.neg()?);
        }
        let (quotient, rest) = split_multiples(self, &divisor)?;
        if let Some((rest, divisor)) = cancel(&rest, &divisor)? {
            return quotient.add(rest.floor_div(divisor)?);
        }
        quotient.add(floor_reduced(&rest, &divisor)?)
    }

    /// Returns `self / divisor`, rounded toward positive infinity.
    pub fn ceil_div(&self, divisor: impl Into<Dim>) -> Option<Dim> {
        self.neg()?.floor_div(divisor)?.neg()
    }

    /// Returns `self / divisor`, rounded toward 0: ONNX `Div` on integers.
    pub fn trunc_div(&self, divisor: impl Into<Dim>) -> Option<Dim> {
        let divisor = divisor.into();
        let floor = self.floor_div(&divisor)?;
        if self.is_never_negative() && divisor.is_never_negative() {
            return Some(floor);
        }
        floor.maximum(0)?.add(self.ceil_div(divisor)?.minimum(0)?)
    }

    /// Returns the remainder with the sign of the divisor: ONNX `Mod` with `fmod = 0`, Python `%`.
    pub fn modulo(&self, divisor: impl Into<Dim>) -> Option<Dim> {
        let divisor = divisor.into();
        self.sub(self.floor_div(&divisor)?.mul(divisor)?)
    }

    /// Returns the polynomial `q` with `self == q * divisor`, or `None` if none is found.
    /// The polynomial `q` is the exact quotient for all nonzero values of the divisor.
    pub fn div_exact(&self, divisor: impl Into<Dim>) -> Option<Dim> {
        let divisor = divisor.into();
        if leads_negative(&divisor) {
            return self.neg()?.div_exact(divisor.neg()?);
        }
        let (quotient, remainder) = self.poly().div_rem(&divisor.poly())?;
        if remainder.is_zero() { Dim::from_poly(quotient) } else { None }
    }
}

/// Builds `floor(n / d)` for operands that [`split_multiples`] and [`cancel`] already reduced.
fn floor_reduced(n: &Dim, d: &Dim) -> Option<Dim> {
    let positive = d.is_never_negative(); // nonzero wherever the quotient is defined
    if positive && leads_negative(n) {
        return n.neg()?.add(d)?.sub(1)?.floor_div(d)?.neg();
    }
    let (quotient, rest) = divide(n, d)?;
    if rest.as_const() == Some(0) || (positive && is_within(&rest, d)) {
        return Some(quotient);
    }
    let fraction = match nested(&rest, d).filter(|_| positive) {
        Some((inner, divisor)) => inner?.floor_div(divisor?)?,
        None => Dim::from_atom(Atom::FloorDiv(rest, d.clone()))?,
    };
    quotient.add(fraction)
}

/// Splits `n` into a quotient by `d` and a rest.
/// For a constant `d`, only terms whose coefficient is a multiple of `d`, and the constant term, are divided.
/// Unlike in [`divide`], terms that are not divided go to the rest unchanged.
fn split_multiples(n: &Dim, d: &Dim) -> Option<(Dim, Dim)> {
    let Some(k) = d.as_const() else { return divide(n, d) };
    let (mut quotient, mut rest) = (Poly::default(), Poly::default());
    for (monomial, coefficient) in n.poly().terms() {
        let remainder = coefficient.checked_rem_euclid(k)?;
        if monomial.is_one() || remainder == 0 {
            quotient.add_term(monomial.clone(), coefficient.div_euclid(k))?;
            rest.add_term(monomial.clone(), remainder)?;
        } else {
            rest.add_term(monomial.clone(), coefficient)?;
        }
    }
    Some((Dim::from_poly(quotient)?, Dim::from_poly(rest)?))
}

/// Returns quotient and remainder of long division.
fn divide(n: &Dim, d: &Dim) -> Option<(Dim, Dim)> {
    let (quotient, rest) = n.poly().div_rem(&d.poly())?;
    Some((Dim::from_poly(quotient)?, Dim::from_poly(rest)?))
}

/// Cancels the common factor of `n` and `d`; the inner `None` means that there is none.
///
/// If `d > 0`, the constant of `n` need not be a multiple of the factor: `floor((g*p + c) / (g*q)) =
/// floor((p + floor(c / g)) / q)`.
fn cancel(n: &Dim, d: &Dim) -> Option<Option<(Dim, Dim)>> {
    let (n, d_poly) = (n.poly(), d.poly());
    let exact = !d.is_never_negative();
    let counted = n.terms().filter(|(monomial, _)| exact || !monomial.is_one());
    let number = counted.chain(d_poly.terms()).try_fold(0, |number, (_, c)| gcd(number, c))?;
    let common = common_monomial(n.terms().chain(d_poly.terms()).map(|(m, _)| m));
    if number <= 1 && common.is_one() {
        return Some(None);
    }
    let factor = Poly::term(common, 1);
    let reduce = |p: &Poly| Dim::from_poly(p.div_coefficients(number)?.div_rem(&factor)?.0);
    Some(Some((reduce(&n)?, reduce(&d_poly)?)))
}

/// Flattens a nested quotient: `n = floor(a / b) + r` over `d > 0` becomes `a + b*r` over `b*d`.
/// Returns `None` unless `b` is a constant or `r` is 0: otherwise, the new numerator could nest deeper.
fn nested(n: &Dim, d: &Dim) -> Option<(Option<Dim>, Option<Dim>)> {
    let n = n.poly();
    n.atoms().into_iter().find_map(|atom| {
        let Atom::FloorDiv(a, b) = atom else { return None };
        let itself = Poly::atom(atom.clone());
        let rest = n.clone().into_owned().add_scaled(&itself, -1)?;
        let alone = !rest.terms().any(|(monomial, _)| monomial.power_of(atom) > 0);
        if !alone || (b.as_const().is_none() && !rest.is_zero()) {
            return None;
        }
        let numerator = Dim::from_poly(rest).and_then(|rest| a.add(b.mul(rest)?));
        Some((numerator, b.mul(d)))
    })
}

fn floor(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a.checked_rem(b)? != 0;
    Some(if inexact && ((a < 0) != (b < 0)) { quotient - 1 } else { quotient })
}

fn leads_negative(dim: &Dim) -> bool {
    dim.poly().leading().is_some_and(|(_, coefficient)| coefficient < 0)
}

/// Returns true if `0 <= n < d` under the default bounds.
fn is_within(n: &Dim, d: &Dim) -> bool {
    let room = |d: &Dim| d.sub(n)?.sub(1);
    n.is_never_negative() && room(d).is_some_and(|room| room.is_never_negative())
}
