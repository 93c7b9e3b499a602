//! Checked rules: names are resolved, and operators match the schema.

use std::sync::Arc;

use crate::diag::{Level, Selection};
use crate::edit::{By, Kind};
use crate::graph::Model;
use crate::graph::syntax::{Source, Span};
use crate::schema;

use super::expr::Expr;

mod assumption;
mod pattern;
mod rewrite;
mod status;

pub use crate::edit::Safety;
pub use assumption::{Assumed, Assumption};
pub use pattern::{
    AttrPat, AttrPatKind, AttrVar, AttrVarId, Count, OpPat, OperandPat, PatNode, Pattern, Rest, ValueVar,
    VarId,
};
pub use rewrite::{Arm, EachTerm, FoldTerm, Fresh, NewAttr, NewNode, NewOutput, Rewrite, Term};
pub use status::RuleStatus;

/// Phase in which a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Directed rewrites that never enlarge the graph.
    Simplify,
    /// Equivalent alternatives that may be cheaper; their number is bounded.
    Explore,
    /// Conversions: equivalent nodes for other opsets or targets.
    Convert,
    /// Repairs of reported faults.
    Fix,
    /// Lowerings of PyTorch operators to ONNX.
    Lower,
    /// Equivalences that only proofs use: `onnx-diff` applies them, `onnx-fix` never.
    Prove,
}

impl Phase {
    /// Each phase with its keyword in rule files.
    pub const WORDS: [(&str, Phase); 6] = [
        ("simplify", Phase::Simplify),
        ("explore", Phase::Explore),
        ("convert", Phase::Convert),
        ("fix", Phase::Fix),
        ("lower", Phase::Lower),
        ("prove", Phase::Prove),
    ];

    /// Finds a phase by its keyword.
    pub fn of_word(word: &str) -> Option<Phase> {
        Phase::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, phase)| phase)
    }
}

/// Rule of a `.rule` file.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Whether the rule is one of `rules/`, not of a user.
    pub is_built_in: bool,
    /// `OPT101`.
    pub code: Arc<str>,
    /// `double-transpose`.
    pub name: Arc<str>,
    /// Docs: the `##` lines above it, as Markdown; the first line is the summary.
    pub docs: String,
    /// Status of the rule: preview, stable or deprecated.
    pub status: RuleStatus,
    pub severity: Level,
    pub phase: Phase,
    pub safety: Safety,
    /// First opset at which the rule applies without a target (`since 23`).
    pub since: Option<i64>,
    /// Code of the rule whose findings the rewrite fixes (`fixes EXP001`); that rule reports them.
    pub fixes: Option<Arc<str>>,
    pub body: Body,
    /// Assumptions about run-time values; the rewrite is valid if all assumptions hold.
    pub assumptions: Vec<Assumed>,
    pub examples: Vec<Example>,
    pub source: RuleSource,
    /// The whole rule, if it has several codes (`also CODE name if …`).
    /// The whole rule lacks the conditions that divide matches among the codes, and has the examples of all
    /// codes.
    pub whole: Option<Arc<Rule>>,
}

/// Location of a rule.
#[derive(Clone, Debug)]
pub struct RuleSource {
    pub source: Source,
    /// Span of the whole rule, including docs.
    pub span: Span,
    /// Span of code and name in the header.
    pub header: Span,
}

/// Body of a rule: a pattern, or a built-in analysis.
#[derive(Clone, Debug)]
pub enum Body {
    /// Pattern rule.
    /// `forward` has a direction for each combination of an operator (`@op in […]`) and alternatives (`|`).
    /// With `also`, each code has only the directions in which the condition of the code can hold.
    /// `backward` has the reverse directions of `rewrite both`.
    Pattern { forward: Vec<Direction>, backward: Vec<Direction> },
    /// `detect builtin::NAME`.
    Builtin(Arc<str>),
}

impl Rule {
    /// Returns the directions from `match` to `rewrite`; none for a built-in analysis.
    pub fn forward(&self) -> &[Direction] {
        match &self.body {
            Body::Pattern { forward, .. } => forward,
            Body::Builtin(_) => &[],
        }
    }

    /// Returns true if the rule's pattern has alternatives (`|`), so that some directions lack some nodes.
    pub fn has_alternatives(&self) -> bool {
        self.forward().iter().any(|direction| !direction.alternatives.is_empty())
    }

    /// Iterates over all directions; there are none for a built-in analysis.
    pub fn directions(&self) -> impl Iterator<Item = &Direction> {
        let (forward, backward) = match &self.body {
            Body::Pattern { forward, backward } => (forward.as_slice(), backward.as_slice()),
            Body::Builtin(_) => Default::default(),
        };
        forward.iter().chain(backward)
    }

    /// Iterates over the operators of the nodes that the rewrites of the rule add.
    pub fn makes(&self) -> impl Iterator<Item = &Arc<str>> {
        let rewrites = self.directions().filter_map(|direction| direction.rewrite.as_ref());
        rewrites.flat_map(|rewrite| &rewrite.nodes).map(|node| &node.op.name)
    }

    /// Returns true if a rewrite of a built-in rule introduces operators of a runtime.
    ///
    /// Without a target, a rule that introduces operators of a runtime is not applied, so that the model
    /// stays portable.
    pub fn is_for_a_runtime(&self) -> bool {
        let is_own = |domain: &str, name: &str| match domain {
            "" => name == schema::ADDED_BY_ONNX_RUNTIME,
            _ => !domain.starts_with("ai.onnx"),
        };
        self.is_built_in
            && self.directions().any(|direction| {
                let matched = direction.pattern.nodes.iter().map(|node| &node.op);
                let matched: Vec<&str> =
                    matched.filter(|op| is_own(&op.domain, &op.name)).map(|op| &*op.domain).collect();
                let added = direction.rewrite.iter().flat_map(|rewrite| &rewrite.nodes).map(|node| &node.op);
                let mut added = added.filter(|op| is_own(&op.domain, &op.name));
                added.any(|op| !matched.contains(&&*op.domain))
            })
    }

    /// Returns true if the rule is selected and not ignored.
    /// The selection may name the code of this rule, or the code of the rule whose findings this rule fixes.
    pub fn is_selected(&self, selection: &Selection) -> bool {
        let codes = || std::iter::once(&self.code).chain(&self.fixes);
        codes().any(|code| selection.contains(code)) && !codes().any(|code| selection.ignores(code))
    }

    /// Returns true for a user's rule of phase `simplify`: its result is selected whatever it costs.
    ///
    /// The author of a rule for a device knows its costs better than the cost model does.
    pub fn is_preferred(&self) -> bool {
        let is_directed = match &self.body {
            Body::Pattern { backward, .. } => backward.is_empty(),
            Body::Builtin(_) => false,
        };
        !self.is_built_in && is_directed && self.phase == Phase::Simplify
    }

    /// Returns the identity of the rule for change reports.
    pub fn by(&self) -> By {
        let kind = match self.phase {
            Phase::Fix => Kind::Repaired,
            Phase::Convert => Kind::Converted,
            Phase::Simplify | Phase::Explore | Phase::Prove => Kind::Simplified,
            Phase::Lower => Kind::Decomposed,
        };
        By { code: self.code.clone(), rule: self.name.clone(), safety: self.safety, kind }
    }

    /// Returns true if the rule only reports findings.
    pub fn is_lint_only(&self) -> bool {
        self.directions().all(|direction| direction.rewrite.is_none())
    }
}

/// Pattern with conditions and an optional rewrite.
#[derive(Clone, Debug, Default)]
pub struct Direction {
    pub pattern: Pattern,
    /// Alternatives (`|`) that the pattern contains; each combination has a direction.
    pub alternatives: Vec<Alternative>,
    /// Variables that other alternatives of the pattern bind, but this direction does not.
    pub absent: Absent,
    /// All attribute variables, including those of `let`.
    pub attr_vars: Vec<AttrVar>,
    /// `where` and `let`, in the order written.
    pub steps: Vec<Step>,
    pub rewrite: Option<Rewrite>,
    /// Message of the findings; empty if the rule has no `message`, and in backward directions.
    pub message: Template,
    pub help: Option<Template>,
}

/// Alternative of a pattern: `B` in `A | B`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alternative {
    /// Name of the `pattern` that contains it; `None` if `match` does.
    pub within: Option<Arc<str>>,
    /// Span in the file of the pattern or rule.
    pub span: Span,
}

/// Variables without a value: values and attributes that are absent.
#[derive(Clone, Debug, Default)]
pub struct Absent {
    pub values: Vec<VarId>,
    pub attrs: Vec<AttrVarId>,
}

/// Condition or binding, evaluated in order.
#[derive(Clone, Debug)]
pub enum Step {
    /// Condition that a match must satisfy; an undefined condition counts as false.
    Where {
        condition: Expr,
        /// Reason (`because "…"`), for `--why-not`.
        because: Option<Arc<str>>,
    },
    /// Binds `var` to the value of `expr`; if the value is undefined, the rule does not match.
    Let { var: AttrVarId, expr: Expr },
}

/// Message with placeholders.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub parts: Vec<Part>,
    pub span: Span,
}

/// Part of a message.
#[derive(Clone, Debug)]
pub enum Part {
    Text(Arc<str>),
    /// `{x}`: the name of the value; names joined by ", " for `xs...`.
    Value(VarId),
    /// `{@r}`, `{dtype(x)}`.
    Expr(Expr),
}

/// Model on which a rule is tested.
#[derive(Clone, Debug)]
pub struct Example {
    pub name: Arc<str>,
    pub model: Model,
    /// Opset of ai.onnx to convert the model to.
    pub target: Option<i64>,
    /// Name of a target profile, as for `--target`.
    pub profile: Option<Arc<str>>,
    pub expect: Expect,
    pub span: Span,
}

/// Expected outcome of an example.
#[derive(Clone, Debug)]
pub enum Expect {
    /// The rule rewrites the model to the contained model.
    RewritesTo(Box<Model>),
    /// The rule rewrites the model to a model that is legal at the target and computes equal results.
    Equivalent,
    /// The rule does not match.
    NoMatch,
    /// The rule reports exactly these messages; none for `reports nothing`.
    Reports(Vec<Arc<str>>),
}
