//! Assumptions of a rule that the inferred facts of a match refute.

use super::{Binding, Match};
use crate::graph::dim::Dim;
use crate::rules::host::Host;
use crate::rules::rule::{Assumed, Assumption, Pattern, VarId};

/// Returns true if an assumption is known not to hold for a match.
/// Only `nonempty` can be refuted, by an inferred dimension of size 0.
pub fn is_denied<H: Host>(
    host: &H,
    assumptions: &[Assumed],
    pattern: &Pattern,
    found: &Match<H::Value, H::Node>,
) -> bool {
    let bound = |name: &str| {
        let at = pattern.values.iter().position(|value| &*value.name == name)?;
        match found.value(VarId(u16::try_from(at).ok()?))? {
            Binding::One(value) => Some(*value),
            Binding::Absent | Binding::Many(_) => None,
        }
    };
    let is_empty = |value: H::Value| {
        let fact = host.fact(value);
        let dims = fact.shape().and_then(|shape| shape.dims());
        dims.is_some_and(|dims| dims.iter().flatten().any(|dim: &Dim| dim.as_const() == Some(0)))
    };
    assumptions.iter().any(|assumed| match assumed.what {
        Assumption::Nonempty => bound(&assumed.value).is_some_and(is_empty),
        _ => false,
    })
}
