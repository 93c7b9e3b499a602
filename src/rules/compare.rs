//! Comparison of data that may contain symbolic dimensions.

use std::borrow::Cow;

use super::arith;
use super::datum::Datum;
use super::expr::CompareOp;
use crate::graph::dim::{Answer, Bounds, Dim};
use crate::infer;

/// Comparison of data, given bounds of symbols. Undecided comparisons are `None`.
#[derive(Clone, Copy)]
pub struct Comparison<'a> {
    /// Known bounds of symbols.
    pub bounds: &'a Bounds,
}

impl Comparison<'_> {
    /// Compares two data. Symbolic dimensions are compared over all sizes they can have.
    pub fn compare(self, op: CompareOp, left: &Datum, right: &Datum) -> Option<bool> {
        if let (Some(a), Some(b)) = (as_dim(left), as_dim(right))
            && (a.as_const().is_none() || b.as_const().is_none())
        {
            return self.dims(op, &a, &b);
        }
        if let (Datum::List(a), Datum::List(b)) = (left, right)
            && matches!(op, CompareOp::Eq | CompareOp::Ne)
        {
            return Some(self.lists_equal(a, b)? == (op == CompareOp::Eq));
        }
        arith::compare(op, left, right)
    }

    fn dims(self, op: CompareOp, a: &Dim, b: &Dim) -> Option<bool> {
        let bounds = self.bounds;
        let answer = match op {
            CompareOp::Eq => a.equals(b, bounds),
            CompareOp::Ne => a.differs(b, bounds),
            CompareOp::Ge => a.at_least(b, bounds),
            CompareOp::Le => b.at_least(a, bounds),
            CompareOp::Lt => a.at_least(b, bounds).negated(),
            CompareOp::Gt => b.at_least(a, bounds).negated(),
        };
        match answer {
            Answer::Always => Some(true),
            Answer::Never => Some(false),
            Answer::Unknown => None,
        }
    }

    /// Compares lists: unequal if one pair differs, even if another pair is undecided.
    fn lists_equal(self, a: &[Datum], b: &[Datum]) -> Option<bool> {
        if a.len() != b.len() {
            return Some(false);
        }
        let mut all_decided = true;
        for (a, b) in a.iter().zip(b) {
            match self.compare(CompareOp::Eq, a, b) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all_decided = false,
            }
        }
        all_decided.then_some(true)
    }

    /// Returns whether a list, or a stored tensor, contains an equal item.
    pub fn contains(self, item: &Datum, list: &Datum) -> Option<bool> {
        let items = match list {
            Datum::List(items) => Cow::Borrowed(items),
            Datum::Tensor(tensor) => match Datum::from_array(&infer::array(tensor)?)? {
                Datum::List(items) => Cow::Owned(items),
                _ => return None,
            },
            _ => return None,
        };
        let answers: Vec<_> = items.iter().map(|other| self.compare(CompareOp::Eq, item, other)).collect();
        match answers.contains(&Some(true)) {
            true => Some(true),
            false => (!answers.contains(&None)).then_some(false),
        }
    }
}

fn as_dim(datum: &Datum) -> Option<Dim> {
    match datum {
        Datum::Dim(dim) => Some(dim.clone()),
        Datum::Int(int) => Some(Dim::known(*int)),
        _ => None,
    }
}
