//! Rewrites of rules.

use std::ops::Range;
use std::sync::Arc;

use super::{AttrVarId, OpPat, ValueVar, VarId};
use crate::graph::syntax::Span;
use crate::rules::expr::{Each, Expr};

/// Replacement for a match.
/// A value that both the pattern and the rewrite define is replaced; in an e-graph, both definitions become one class.
///
/// Terms are evaluated lazily: the replacement of an optional output is not computed if the output is
/// absent.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// Nodes in topological order.
    pub nodes: Vec<NewNode>,
    /// Values that the rewrite defines and the pattern does not; their ids follow those of the pattern.
    pub fresh: Vec<Fresh>,
    /// `let @a = …`.
    pub lets: Vec<(AttrVarId, Expr)>,
    /// Pattern values that the rewrite redefines, in the order of [`super::Pattern::values`].
    pub outputs: Vec<(VarId, Term)>,
    pub span: Span,
}

/// Value that the rewrite defines and the pattern does not.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub var: ValueVar,
    /// `None` for the variable of a comprehension or a `fold`.
    pub term: Option<Term>,
}

/// Expression that produces a value.
#[derive(Clone, Debug)]
pub enum Term {
    Absent,
    /// Values that a name is bound to: none, one or several.
    Var(VarId),
    /// Constant, of the type required by its use.
    Literal(Expr),
    /// Output of one of [`Rewrite::nodes`].
    Output {
        node: u16,
        index: u16,
    },
    /// All outputs of one of [`Rewrite::nodes`], starting at `first`.
    Outputs {
        node: u16,
        first: u16,
    },
    /// First arm whose condition is true; the last one has no condition.
    Case(Vec<Arm>),
    Each(Box<EachTerm>),
    Fold(Box<FoldTerm>),
}

/// Arm of a `case`.
#[derive(Clone, Debug)]
pub struct Arm {
    pub condition: Option<Expr>,
    pub term: Term,
}

/// `[term for @i, x in xs]`: one value for each item.
#[derive(Clone, Debug)]
pub struct EachTerm {
    pub term: Term,
    pub each: Each,
    /// Nodes to evaluate once for each item, as a range of [`Rewrite::nodes`].
    pub nodes: Range<usize>,
    /// Values to evaluate once for each item, as a range of [`Rewrite::fresh`].
    pub fresh: Range<usize>,
    /// Attributes to evaluate once for each item, as a range of [`Rewrite::lets`].
    pub lets: Range<usize>,
}

/// `fold name = initial for @i in list: term`: the last `term`, or `initial` for an empty list.
#[derive(Clone, Debug)]
pub struct FoldTerm {
    pub initial: Term,
    /// Variable that, inside `term`, is bound to the result for the previous item.
    pub var: VarId,
    pub each: EachTerm,
}

/// Whether a new node has the output at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewOutput {
    /// Omitted.
    No,
    Yes,
    /// One output for each value that this optional or variadic pattern variable binds.
    AsMatched(VarId),
}

/// Node that a rewrite adds.
#[derive(Clone, Debug)]
pub struct NewNode {
    pub op: OpPat,
    pub inputs: Vec<Term>,
    pub outputs: Vec<NewOutput>,
    /// Attributes; one that evaluates to [`Datum::Absent`](crate::rules::datum::Datum::Absent) is omitted.
    pub attrs: Vec<NewAttr>,
    /// `..@rest`.
    pub rest: Option<AttrVarId>,
    pub span: Span,
}

/// Attribute of a new node.
#[derive(Clone, Debug)]
pub struct NewAttr {
    pub name: Arc<str>,
    pub value: Expr,
    pub span: Span,
}
