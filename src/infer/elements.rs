//! Facts about the elements of a sequence.

use super::fact::{Elements, Fact};
use super::meet::Conflict;
use crate::graph::dim::Bounds;

/// Maximum length of sequences whose elements are tracked individually.
pub const MAX_FOLLOWED: usize = 256;

impl Elements {
    /// Creates facts of a sequence with these elements.
    /// `otherwise` is the fact common to all elements if the sequence is empty.
    pub fn each(facts: Vec<Fact>, otherwise: &Fact, bounds: &Bounds) -> Self {
        let all = facts.iter().cloned().map(Fact::without_values).reduce(|a, b| a.join(&b, bounds));
        let any = Box::new(all.unwrap_or_else(|| otherwise.clone()));
        Elements { any, each: (facts.len() <= MAX_FOLLOWED).then(|| facts.into()) }
    }

    /// Returns the facts of the individual elements, if they are tracked.
    pub fn facts(&self) -> Option<&[Fact]> {
        self.each.as_deref()
    }

    /// Applies a function to the common fact and to each element's fact.
    pub(super) fn map(&self, change: impl Fn(&Fact) -> Fact) -> Self {
        let each = self.each.as_ref().map(|each| each.iter().map(&change).collect());
        Elements { any: Box::new(change(&self.any)), each }
    }

    /// Combines two facts that both hold; fails on a conflict, such as two different known lengths.
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

    /// Returns the facts that hold for both sequences; element facts are kept if the lengths are equal.
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
