//! What a rule makes of it.

use std::ops::Range;
use std::sync::Arc;

use super::{AttrVarId, OpPat, ValueVar, VarId};
use crate::graph::syntax::Span;
use crate::rules::expr::{Each, Expr};

/// What is equal to the match. A value that the pattern makes and the rewrite makes too is the same one.
///
/// Nothing in it is made unless an output needs it: what is said of an optional output is not computed
/// where that is not there.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The calls; each stands behind those that it takes values of.
    pub nodes: Vec<NewNode>,
    /// Values that only the rewrite has; their ids follow those of the pattern.
    pub fresh: Vec<Fresh>,
    /// `let @a = …`.
    pub lets: Vec<(AttrVarId, Expr)>,
    /// The values of the pattern that it defines anew, in the order of [`super::Pattern::values`].
    pub outputs: Vec<(VarId, Term)>,
    pub span: Span,
}

/// A value that only a rewrite has.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub var: ValueVar,
    /// `None` for one that stands for each of many in turn.
    pub term: Option<Term>,
}

/// How a rewrite says which value it means.
#[derive(Clone, Debug)]
pub enum Term {
    Absent,
    /// What a name stands for: one value, none, or many.
    Var(VarId),
    /// A constant, of the type that is asked for where it stands.
    Literal(Expr),
    /// An output of [`Rewrite::nodes`].
    Output {
        node: u16,
        index: u16,
    },
    /// All outputs of one of [`Rewrite::nodes`] from this one on.
    Outputs {
        node: u16,
        first: u16,
    },
    /// The first whose condition is true; one without a condition is the last.
    Case(Vec<Arm>),
    Each(Box<EachTerm>),
}

#[derive(Clone, Debug)]
pub struct Arm {
    pub condition: Option<Expr>,
    pub term: Term,
}

/// `[term for @i, x in xs]`: a value for each of many.
#[derive(Clone, Debug)]
pub struct EachTerm {
    pub term: Term,
    pub each: Each,
    /// What is made anew for each: ranges of [`Rewrite::nodes`], [`Rewrite::fresh`] and [`Rewrite::lets`].
    pub nodes: Range<usize>,
    pub fresh: Range<usize>,
    pub lets: Range<usize>,
}

/// Whether a new node has an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewOutput {
    /// Nothing asks for it.
    No,
    Yes,
    /// As often as the value of the pattern that it is equal to is there: an optional one, or many.
    AsMatched(VarId),
}

/// A node that a rewrite adds.
#[derive(Clone, Debug)]
pub struct NewNode {
    pub op: OpPat,
    pub inputs: Vec<Term>,
    pub outputs: Vec<NewOutput>,
    /// One whose expression is [`Datum::Absent`](crate::rules::datum::Datum::Absent) is left out.
    pub attrs: Vec<NewAttr>,
    /// `..@rest`.
    pub rest: Option<AttrVarId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct NewAttr {
    pub name: Arc<str>,
    pub value: Expr,
    pub span: Span,
}
