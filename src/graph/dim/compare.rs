//! Three-valued comparison of symbolic integers.

use super::poly::gcd;
use super::{Bounds, Dim, Interval};

/// Whether a statement holds for all assignments within given bounds.
/// Only assignments for which both sides of the statement are defined are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// True for every assignment.
    Always,
    /// False for every assignment.
    Never,
    /// True for some assignments only, or undecided.
    Unknown,
}

impl Answer {
    /// Returns true for [`Answer::Always`].
    pub fn is_always(self) -> bool {
        self == Answer::Always
    }

    /// Returns true for [`Answer::Never`].
    pub fn is_never(self) -> bool {
        self == Answer::Never
    }

    /// Returns the negated answer.
    pub fn negated(self) -> Answer {
        match self {
            Answer::Always => Answer::Never,
            Answer::Never => Answer::Always,
            Answer::Unknown => Answer::Unknown,
        }
    }
}

impl Dim {
    /// Decides whether `self == other`.
    pub fn equals(&self, other: &Dim, bounds: &Bounds) -> Answer {
        if self == other {
            return Answer::Always;
        }
        self.sub(other).map_or(Answer::Unknown, |difference| difference.is_zero(bounds))
    }

    /// Decides whether `self != other`.
    pub fn differs(&self, other: &Dim, bounds: &Bounds) -> Answer {
        self.equals(other, bounds).negated()
    }

    /// Decides whether `self >= other`.
    pub fn at_least(&self, other: &Dim, bounds: &Bounds) -> Answer {
        let Some(difference) = self.sub(other) else { return Answer::Unknown };
        match difference.range(bounds) {
            Interval { lo: Some(lo), .. } if lo >= 0 => Answer::Always,
            Interval { hi: Some(hi), .. } if hi < 0 => Answer::Never,
            _ => Answer::Unknown,
        }
    }

    /// Decides whether `multiple == self * n` for an integer `n`.
    pub fn divides(&self, multiple: &Dim, bounds: &Bounds) -> Answer {
        let (Some(divisor), Some(multiple)) = (self.pinned(bounds), multiple.pinned(bounds)) else {
            return Answer::Unknown;
        };
        if divisor.as_const() == Some(0) {
            return multiple.is_zero(bounds); // 0 divides only 0
        }
        if multiple.div_exact(&divisor).is_some() {
            return Answer::Always;
        }
        let Some(remainder) = multiple.modulo(&divisor) else { return Answer::Unknown };
        // If the divisor is 0, the remainder proves nothing.
        match (remainder.is_zero(bounds), divisor.is_zero(bounds), multiple.is_zero(bounds)) {
            (Answer::Always, Answer::Never, _) => Answer::Always,
            (Answer::Never, Answer::Never, _) | (Answer::Never, _, Answer::Never) => Answer::Never,
            _ => Answer::Unknown,
        }
    }

    fn is_zero(&self, bounds: &Bounds) -> Answer {
        let range = self.range(bounds);
        if range.as_point() == Some(0) {
            Answer::Always
        } else if !range.contains(0) || self.is_never_zero_by_parity() {
            Answer::Never
        } else {
            Answer::Unknown
        }
    }

    /// Returns true if the constant term is not a multiple of the gcd of the other coefficients.
    /// For example, `2*s - 2*t + 1` is never zero.
    fn is_never_zero_by_parity(&self) -> bool {
        let poly = self.poly();
        let others = poly.terms().filter(|(monomial, _)| !monomial.is_one());
        match others.map(|(_, coefficient)| coefficient).try_fold(0, gcd) {
            Some(0) | None => false,
            Some(divisor) => poly.constant_part() % divisor != 0,
        }
    }

    /// Replaces symbols that can have only one value by that value.
    fn pinned(&self, bounds: &Bounds) -> Option<Dim> {
        self.substitute(&|symbol| bounds.of(symbol).as_point().map(Dim::known))
    }
}
