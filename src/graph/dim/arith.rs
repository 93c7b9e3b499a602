//! Sums and products of symbolic integers.

use super::{Dim, Repr};

/// An operand may be given as `2`, `dim` or `&dim`.
/// Returns `None` if a `Dim` cannot represent the result (see the module's invariants).
impl Dim {
    /// Returns `self + other`.
    pub fn add(&self, other: impl Into<Dim>) -> Option<Dim> {
        self.add_scaled(&other.into(), 1)
    }

    /// Returns `self - other`.
    pub fn sub(&self, other: impl Into<Dim>) -> Option<Dim> {
        self.add_scaled(&other.into(), -1)
    }

    /// Returns `-self`.
    pub fn neg(&self) -> Option<Dim> {
        self.mul(-1)
    }

    /// Returns `self * other`.
    pub fn mul(&self, other: impl Into<Dim>) -> Option<Dim> {
        let other = other.into();
        match (&self.0, &other.0) {
            (Repr::Known(a), Repr::Known(b)) => a.checked_mul(*b).map(Dim::known),
            (Repr::Known(1), _) => Some(other),
            (_, Repr::Known(1)) => Some(self.clone()),
            _ => Dim::from_poly(self.poly().mul(&other.poly())?),
        }
    }

    fn add_scaled(&self, other: &Dim, factor: i64) -> Option<Dim> {
        match (&self.0, &other.0) {
            (Repr::Known(a), Repr::Known(b)) => a.checked_add(b.checked_mul(factor)?).map(Dim::known),
            (_, Repr::Known(0)) => Some(self.clone()),
            _ => Dim::from_poly(self.poly().into_owned().add_scaled(&other.poly(), factor)?),
        }
    }
}
