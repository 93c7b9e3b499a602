//! What is known of the elements of a sequence.

use std::ops::Deref;
use std::sync::Arc;

use super::fact::Fact;
use super::meet::Conflict;
use crate::graph::dim::Bounds;

/// The elements of longer sequences are not followed one by one.
pub const MAX_FOLLOWED: usize = 256;

/// What is known of the elements of a sequence: what holds of all of them (which it dereferences to), and
/// where it is known how many there are, what holds of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    any: Box<Fact>,
    each: Option<Arc<[Fact]>>,
}

impl Elements {
    /// Any number of elements, of which this holds.
    pub fn any(fact: Fact) -> Self {
        Elements { any: Box::new(fact), each: None }
    }

    /// These elements. `otherwise` is what would hold of one if there were any.
    pub fn each(facts: Vec<Fact>, otherwise: &Fact, bounds: &Bounds) -> Self {
        let all = facts.iter().cloned().map(Fact::without_values).reduce(|a, b| a.join(&b, bounds));
        let any = Box::new(all.unwrap_or_else(|| otherwise.clone()));
        Elements { any, each: (facts.len() <= MAX_FOLLOWED).then(|| facts.into()) }
    }

    /// The facts of the elements one by one, where their number is known.
    pub fn facts(&self) -> Option<&[Fact]> {
        self.each.as_deref()
    }

    pub(super) fn map(&self, change: impl Fn(&Fact) -> Fact) -> Self {
        let each = self.each.as_ref().map(|each| each.iter().map(&change).collect());
        Elements { any: Box::new(change(&self.any)), each }
    }

    pub(super) fn meet(&self, other: &Elements, bounds: &Bounds) -> Result<Elements, Conflict> {
        let any = Box::new(self.any.meet(&other.any, bounds)?);
        let each = match (&self.each, &other.each) {
            (Some(a), Some(b)) if a.len() != b.len() => {
                return Err(Conflict::Length(a.len(), b.len()));
            }
            (Some(a), Some(b)) => {
                Some(a.iter().zip(b.iter()).map(|(a, b)| a.meet(b, bounds)).collect::<Result<_, _>>()?)
            }
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Ok(Elements { any, each })
    }

    pub(super) fn join(&self, other: &Elements, bounds: &Bounds) -> Elements {
        let any = Box::new(self.any.join(&other.any, bounds));
        let each = match (&self.each, &other.each) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                Some(a.iter().zip(b.iter()).map(|(a, b)| a.join(b, bounds)).collect())
            }
            _ => None,
        };
        Elements { any, each }
    }
}

impl Deref for Elements {
    type Target = Fact;

    fn deref(&self) -> &Fact {
        &self.any
    }
}
