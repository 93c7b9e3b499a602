//! A rule as the matcher takes it: names resolved, checked against the schema.

use std::sync::Arc;

use crate::diag::{Level, Selection};
use crate::graph::Model;
use crate::graph::syntax::{Source, Span};

use super::datum::Datum;
use super::expr::Expr;

/// When a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Directed, and never makes the graph larger; to a fixpoint.
    Simplify,
    /// Adds equal forms that may or may not be cheaper; bounded.
    Explore,
    /// Adds the form that another opset has for the same thing.
    Convert,
    /// Mends a fault that the rule reports.
    Fix,
}

/// What a rewrite keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Safety {
    /// Every bit of every output.
    Exact,
    /// Every output up to rounding.
    Rounding,
    /// May change values, element types or shapes; only on demand.
    Unsafe,
}

/// One rule of a `.rule` file.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `OPT101`.
    pub code: Arc<str>,
    /// `double-transpose`.
    pub name: Arc<str>,
    /// The `##` lines above it, as Markdown; the first line is the summary.
    pub docs: String,
    pub severity: Level,
    pub phase: Phase,
    pub safety: Safety,
    /// The code of the rule whose findings the rewrite mends (`mends EXP001`): that one reports.
    pub mends: Option<Arc<str>>,
    /// Empty for `detect builtin::…`: code has messages of its own, which its examples show.
    pub message: Template,
    pub help: Option<Template>,
    pub body: Body,
    pub examples: Vec<Example>,
    pub source: RuleSource,
}

/// Where a rule stands.
#[derive(Clone, Debug)]
pub struct RuleSource {
    pub source: Source,
    /// The whole rule, docs included.
    pub span: Span,
    /// Its code and name in the header.
    pub header: Span,
}

/// How a rule finds what it speaks of.
#[derive(Clone, Debug)]
pub enum Body {
    /// One direction for each operator of `@op in […]`, at least one; `backward` is there for
    /// `rewrite both`: the same equality read from right to left.
    Pattern { forward: Vec<Direction>, backward: Vec<Direction> },
    /// `detect builtin::NAME`.
    Builtin(Arc<str>),
}

impl Rule {
    /// The patterns with what follows from them; none for a builtin.
    pub fn directions(&self) -> impl Iterator<Item = &Direction> {
        let (forward, backward) = match &self.body {
            Body::Pattern { forward, backward } => (forward.as_slice(), backward.as_slice()),
            Body::Builtin(_) => Default::default(),
        };
        forward.iter().chain(backward)
    }

    /// The operators of the nodes that its rewrites add.
    pub fn makes(&self) -> impl Iterator<Item = &Arc<str>> {
        let rewrites = self.directions().filter_map(|direction| direction.rewrite.as_ref());
        rewrites.flat_map(|rewrite| &rewrite.nodes).map(|node| &node.op.name)
    }

    /// Whether it is selected, by its own code or by that of the rule whose findings it mends.
    pub fn is_selected(&self, selection: &Selection) -> bool {
        selection.contains(&self.code) || self.mends.as_ref().is_some_and(|code| selection.contains(code))
    }

    /// Whether it only reports.
    pub fn is_lint_only(&self) -> bool {
        self.directions().all(|direction| direction.rewrite.is_none())
    }
}

/// A pattern, the conditions under which it holds, and what is equal to it then.
#[derive(Clone, Debug)]
pub struct Direction {
    pub pattern: Pattern,
    /// Every attribute variable, those of `let` included.
    pub attr_vars: Vec<AttrVar>,
    /// `where` and `let`, in the order written.
    pub steps: Vec<Step>,
    pub rewrite: Option<Rewrite>,
}

/// A value variable: an index into [`Pattern::values`], and past its end into [`Rewrite::fresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u16);

/// An attribute variable: an index into [`Direction::attr_vars`].
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
    pub inputs: Vec<InPat>,
    /// `None`: an output that must not be there (`""`). Outputs that are not written may be.
    pub outputs: Vec<Option<VarId>>,
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

/// An input of a node of a pattern or rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InPat {
    Value(VarId),
    /// `b?`: the value, or nothing.
    Optional(VarId),
    /// `xs...`: any number of values.
    Variadic(VarId),
    /// `""`: must not be there.
    Absent,
}

impl InPat {
    pub fn var(self) -> Option<VarId> {
        match self {
            InPat::Value(var) | InPat::Optional(var) | InPat::Variadic(var) => Some(var),
            InPat::Absent => None,
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

#[derive(Clone, Debug)]
pub enum Step {
    /// Must be true; undefined is not true.
    Where(Expr),
    /// Undefined means no match.
    Let { var: AttrVarId, expr: Expr },
}

/// What is equal to the match. A value that the pattern makes and the rewrite makes too is the same one.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// In an order in which every value is made before it is used.
    pub nodes: Vec<NewNode>,
    /// `y = x`: the value is equal to one of the pattern's.
    pub aliases: Vec<Alias>,
    /// Values that only the rewrite has; their ids follow those of the pattern.
    pub fresh: Vec<ValueVar>,
    /// The values of the pattern that it defines anew, in the order of [`Pattern::values`].
    pub outputs: Vec<VarId>,
    pub span: Span,
}

/// A node that a rewrite adds.
#[derive(Clone, Debug)]
pub struct NewNode {
    pub op: OpPat,
    pub inputs: Vec<InPat>,
    pub outputs: Vec<Option<VarId>>,
    /// One whose expression is [`Datum::Absent`] is left out.
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

#[derive(Clone, Debug)]
pub struct Alias {
    pub target: VarId,
    pub source: VarId,
    pub span: Span,
}

/// A message with holes.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub parts: Vec<Part>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Part {
    Text(Arc<str>),
    /// `{x}`: the name of the value; names joined by ", " for `xs...`.
    Value(VarId),
    /// `{@r}`, `{dtype(x)}`.
    Expr(Expr),
}

/// A model on which a rule is tried.
#[derive(Clone, Debug)]
pub struct Example {
    pub name: Arc<str>,
    pub model: Model,
    /// The opset of ai.onnx that the model is to be converted to.
    pub target: Option<i64>,
    pub expect: Expect,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Expect {
    /// The rule turns the model into this one.
    Becomes(Box<Model>),
    /// The rule has nothing to rewrite.
    Unchanged,
    /// The rule reports exactly these messages; none for `finds nothing`.
    Finds(Vec<Arc<str>>),
}
