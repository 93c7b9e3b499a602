//! A rule as the matcher takes it: names resolved, checked against the schema.

use std::sync::Arc;

use crate::diag::{Level, Selection};
use crate::edit::By;
use crate::graph::Model;
use crate::graph::syntax::{Source, Span};

use super::expr::Expr;

mod given;
mod pattern;
mod rewrite;

pub use crate::edit::Safety;
pub use given::{Assumption, Given};
pub use pattern::{
    AttrPat, AttrPatKind, AttrVar, AttrVarId, Count, OpPat, OperandPat, PatNode, Pattern, Rest, ValueVar,
    VarId,
};
pub use rewrite::{Arm, EachTerm, Fresh, NewAttr, NewNode, NewOutput, Rewrite, Term};

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
    /// Says in ONNX what an operator of PyTorch does.
    Lower,
}

impl Phase {
    /// Each phase with its keyword in rule files.
    pub const WORDS: [(&str, Phase); 5] = [
        ("simplify", Phase::Simplify),
        ("explore", Phase::Explore),
        ("convert", Phase::Convert),
        ("fix", Phase::Fix),
        ("lower", Phase::Lower),
    ];

    /// The phase of a keyword.
    pub fn of_word(word: &str) -> Option<Phase> {
        Phase::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, phase)| phase)
    }
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
    /// Empty for `detect builtin::…`: code has messages of its own, which its examples show. Empty also
    /// where nobody would read it: what only converts is not reported.
    pub message: Template,
    pub help: Option<Template>,
    pub body: Body,
    /// What the values of a run must be for the rewrite to hold.
    pub given: Vec<Given>,
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

    /// Whether it is selected, by its own code or by that of the rule whose findings it mends, and neither is
    /// ignored.
    pub fn is_selected(&self, selection: &Selection) -> bool {
        let codes = || std::iter::once(&self.code).chain(&self.mends);
        codes().any(|code| selection.contains(code)) && !codes().any(|code| selection.ignores(code))
    }

    /// As what is written down of what it changed.
    pub fn by(&self) -> By {
        By { code: self.code.clone(), rule: self.name.clone(), safety: self.safety }
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

#[derive(Clone, Debug)]
pub enum Step {
    /// Must be true; undefined is not true.
    Where(Expr),
    /// Undefined means no match.
    Let { var: AttrVarId, expr: Expr },
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
    /// What is to take it, as `--target` names it: a rule knows no targets.
    pub profile: Option<Arc<str>>,
    pub expect: Expect,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Expect {
    /// The rule turns the model into this one.
    Becomes(Box<Model>),
    /// The rule turns the model into something that is legal at the target, and gives equal numbers.
    Computes,
    /// The rule has nothing to rewrite.
    Unchanged,
    /// The rule reports exactly these messages; none for `finds nothing`.
    Finds(Vec<Arc<str>>),
}
