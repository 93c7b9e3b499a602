//! Patterns of rules.

use std::sync::Arc;

use crate::graph::syntax::Span;
use crate::rules::datum::Datum;
pub use crate::rules::var::{AttrVarId, VarId};

/// Number of values that a variable binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// `x`.
    One,
    /// `b?`: one or none.
    Optional,
    /// `xs...`: any number, in order.
    Many,
}

/// Named value of a pattern or a rewrite.
#[derive(Clone, Debug)]
pub struct ValueVar {
    pub name: Arc<str>,
    pub count: Count,
    /// Node of the pattern that produces the value, and the output index.
    /// `None` for an input of the pattern, and for a value that only the rewrite has.
    pub def: Option<(u16, u16)>,
    /// Span of its first occurrence.
    pub span: Span,
}

/// `@name`.
#[derive(Clone, Debug)]
pub struct AttrVar {
    /// Name without the `@`.
    pub name: Arc<str>,
    /// Span of its binding.
    pub span: Span,
}

/// Nodes of a pattern, each after its producers.
/// The last node is the root, which depends on all other nodes.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub nodes: Vec<PatNode>,
    pub values: Vec<ValueVar>,
    /// Whether operands may be swapped where this can change the sign of a zero: the rule is not exact.
    pub rounds: bool,
}

/// Node of a pattern.
#[derive(Clone, Debug)]
pub struct PatNode {
    pub op: OpPat,
    pub inputs: Vec<OperandPat>,
    /// Outputs; the node may have more.
    pub outputs: Vec<OperandPat>,
    pub attrs: Vec<AttrPat>,
    pub rest: Rest,
    pub span: Span,
}

/// Operator: `Softmax`, `Softmax@13`, `com.microsoft.FusedConv`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpPat {
    /// "" for ai.onnx.
    pub domain: Arc<str>,
    pub name: Arc<str>,
    /// Version in `Softmax@13`, which stands for all versions with equal semantics (see [`crate::schema`]).
    /// `None` matches all versions, and in a rewrite stands for the version at the model's opset.
    pub epoch: Option<u16>,
    pub span: Span,
}

/// Input or output of a node in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandPat {
    Value(VarId),
    /// `b?`: a value, or none.
    Optional(VarId),
    /// `xs...`: any number of values.
    Variadic(VarId),
    /// `""`: must be absent.
    Absent,
}

impl Pattern {
    /// Returns the length of the longest path of nodes.
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
    /// Returns the variable that the operand binds, if any.
    pub fn var(self) -> Option<VarId> {
        match self {
            OperandPat::Value(var) | OperandPat::Optional(var) | OperandPat::Variadic(var) => Some(var),
            OperandPat::Absent => None,
        }
    }
}

/// Pattern for one named attribute of a node.
#[derive(Clone, Debug)]
pub struct AttrPat {
    pub name: Arc<str>,
    pub pat: AttrPatKind,
    pub span: Span,
}

/// Kind of an attribute pattern.
#[derive(Clone, Debug)]
pub enum AttrPatKind {
    /// `= @a`: binds `@a` to the attribute; if `@a` is already bound, its value must equal the attribute.
    /// An absent attribute has the value of its default; without a default, there is no match.
    Bind(AttrVarId),
    /// `= @a?`: like `Bind`, but an absent attribute without a default binds [`Datum::Absent`].
    BindOptional(AttrVarId),
    /// `= 3`.
    Literal(Datum),
    /// `= _`.
    Any,
}

/// Treatment of attributes that the pattern does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rest {
    /// Attributes that the pattern does not name must have their defaults.
    None,
    /// `..`: attributes that the pattern does not name may have any value.
    Ignore,
    /// `..@rest`: like `..`; the rewrite can copy the attributes to another node.
    Keep(AttrVarId),
}
