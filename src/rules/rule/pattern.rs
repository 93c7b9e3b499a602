//! What a rule matches.

use std::sync::Arc;

use crate::graph::syntax::Span;
use crate::rules::datum::Datum;

/// A value variable: an index into [`Pattern::values`], and past its end into [`super::Rewrite::fresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u16);

/// An attribute variable: an index into [`super::Direction::attr_vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrVarId(pub u16);

/// How many values a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// `x`.
    One,
    /// `b?`: one or none.
    Optional,
    /// `xs...`: any number, in order.
    Many,
}

/// A value that the pattern names.
#[derive(Clone, Debug)]
pub struct ValueVar {
    pub name: Arc<str>,
    pub count: Count,
    /// The node of the pattern (or of the rewrite, for a fresh value) that makes it, and which of its
    /// outputs it is; `None` for one that the pattern takes from outside.
    pub def: Option<(u16, u16)>,
    /// Where it stands first.
    pub span: Span,
}

/// `@name`.
#[derive(Clone, Debug)]
pub struct AttrVar {
    /// Without the `@`.
    pub name: Arc<str>,
    /// Where it is bound.
    pub span: Span,
}

/// The nodes that must be there, as written: the last one is the root, and every other one leads to it.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub nodes: Vec<PatNode>,
    pub values: Vec<ValueVar>,
}

#[derive(Clone, Debug)]
pub struct PatNode {
    pub op: OpPat,
    pub inputs: Vec<OperandPat>,
    /// Outputs that are not written may be there.
    pub outputs: Vec<OperandPat>,
    pub attrs: Vec<AttrPat>,
    pub rest: Rest,
    pub span: Span,
}

/// An operator: `Softmax`, `Softmax@13`, `com.microsoft.FusedConv`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpPat {
    /// "" for ai.onnx.
    pub domain: Arc<str>,
    pub name: Arc<str>,
    /// The first version of the epoch; without one, the epoch of the model's opset.
    pub epoch: Option<u16>,
    pub span: Span,
}

/// An input or output of a node of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandPat {
    Value(VarId),
    /// `b?`: the value, or nothing.
    Optional(VarId),
    /// `xs...`: any number of values.
    Variadic(VarId),
    /// `""`: must not be there.
    Absent,
}

impl Pattern {
    /// How many nodes stand above each other at most.
    pub fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let below = node.inputs.iter().filter_map(|input| {
                let (maker, _) = self.values[usize::from(input.var()?.0)].def?;
                depths.get(usize::from(maker)).copied()
            });
            depths.push(1 + below.max().unwrap_or(0));
        }
        depths.into_iter().max().unwrap_or(0)
    }
}

impl OperandPat {
    pub fn var(self) -> Option<VarId> {
        match self {
            OperandPat::Value(var) | OperandPat::Optional(var) | OperandPat::Variadic(var) => Some(var),
            OperandPat::Absent => None,
        }
    }
}

/// What an attribute must be. One that is not written must be at its default.
#[derive(Clone, Debug)]
pub struct AttrPat {
    pub name: Arc<str>,
    pub pat: AttrPatKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum AttrPatKind {
    /// `= @a`: binds it; where `@a` is bound already, both must be equal. An attribute that is not there
    /// has the value of its default, and no match where it has none.
    Bind(AttrVarId),
    /// `= @a?`: also binds the lack of the attribute and of a default, as [`Datum::Absent`].
    BindOptional(AttrVarId),
    /// `= 3`.
    Literal(Datum),
    /// `= _`.
    Any,
}

/// What of attributes that the pattern does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rest {
    /// They must be at their defaults.
    None,
    /// `..`: they may be anything.
    Ignore,
    /// `..@rest`: they may be anything, and can be written on another node.
    Keep(AttrVarId),
}
