//! Variables of rules.

/// Value variable: an index into [`Pattern::values`], and past its end into [`Rewrite::fresh`].
///
/// [`Pattern::values`]: super::rule::Pattern::values
/// [`Rewrite::fresh`]: super::rule::Rewrite::fresh
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u16);

/// Attribute variable: an index into [`Direction::attr_vars`](super::rule::Direction::attr_vars).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrVarId(pub u16);
