//! Syntax trees of rule files, before names are resolved.

use std::sync::Arc;

use crate::graph::syntax::ast::{AttrSyntax, Call, Declared, Function, Graph, Header, Name, Node, Operand};
use crate::graph::syntax::{Source, Span};
use crate::graph::{ElemType, Tensor};
use crate::rules::expr::{BinaryOp, CompareOp};

/// Rule file.
#[derive(Clone, Debug, Default)]
pub struct FileAst {
    /// `language 3`.
    pub language: Option<(i64, Span)>,
    /// `defaults { … }`: default entries for all rules in the file.
    pub defaults: Vec<Entry>,
    pub functions: Vec<FnAst>,
    /// `pattern square(d) = …`; unlike a function, it may contain alternatives.
    pub patterns: Vec<FnAst>,
    pub rules: Vec<RuleAst>,
    /// Whether all definitions that rules may refer to could be parsed.
    pub is_whole: bool,
    /// Words of the previous version of the language, with the words that replace them.
    pub old_words: Vec<(Span, &'static str)>,
}

/// `fn softcapped(s, @cap) = …`, or `pattern square(d) = …`.
#[derive(Clone, Debug)]
pub struct FnAst {
    pub name: Name,
    pub params: Vec<ParamAst>,
    /// Statements of `{ … }`, before the result.
    pub statements: Vec<Statement>,
    /// Result, at the end of `{ … }`.
    pub result: ValueAst,
    /// Opset for operators in the body, from the defaults of the file.
    pub at: Option<i64>,
    pub span: Span,
}

/// Parameter of a function.
#[derive(Clone, Debug)]
pub enum ParamAst {
    /// `x`, `b?`, `xs...`.
    Value(Operand),
    /// `@a`.
    Attr(Name),
}

/// `rule OPT101 double-transpose { … }`.
#[derive(Clone, Debug)]
pub struct RuleAst {
    pub docs: String,
    pub code: Name,
    pub name: Name,
    pub entries: Vec<Entry>,
    /// Span from the docs of the rule to its closing brace.
    pub span: Span,
    /// Whether the whole rule could be parsed.
    pub is_whole: bool,
}

/// Entry of a rule.
#[derive(Clone, Debug)]
pub struct Entry {
    pub keyword: Name,
    pub kind: EntryKind,
    pub span: Span,
}

/// Kind of an entry.
#[derive(Clone, Debug)]
pub enum EntryKind {
    /// `status preview`, or `status deprecated by OPT202`.
    Status(Name, Option<Name>),
    Severity(Name),
    Phase(Name),
    Safety(Name),
    /// `at 9`.
    At(i64, Span),
    /// `since 23`.
    Since(i64, Span),
    Fixes(Name),
    Message(TextAst),
    Help(TextAst),
    Match(Vec<Statement>),
    Where(Vec<ConditionAst>),
    Let {
        var: Name,
        expr: ExprAst,
    },
    /// `assume finite(x)`: assumptions about run-time values.
    Assume(Vec<AssumeAst>),
    Rewrite {
        both: bool,
        statements: Vec<Statement>,
    },
    Detect(Name),
    /// `also OPT202 name if condition`: matches for which the condition holds have another code.
    Also(Box<AlsoAst>),
    Example(Box<ExampleAst>),
}

/// `OPT202 layernorm-without-bias if not is_present(b)`.
#[derive(Clone, Debug)]
pub struct AlsoAst {
    pub code: Name,
    pub name: Name,
    pub condition: ExprAst,
}

/// Line of `where`: `rank(x) == 2 because "the axes are those of a matrix"`.
#[derive(Clone, Debug)]
pub struct ConditionAst {
    pub expr: ExprAst,
    /// Reason, for `--why-not`.
    pub because: Option<Name>,
}

/// `finite(x)`.
#[derive(Clone, Debug)]
pub struct AssumeAst {
    pub what: Name,
    pub value: Name,
}

/// Line of `match` or `rewrite`.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `a, b = Op (x)`, `y = x`.
    Make { targets: Vec<Operand>, source: ValueAst, span: Span },
    /// `let @a = …`, in a rewrite.
    Let { var: Name, expr: ExprAst, span: Span },
}

/// Value: a name, a call, a literal, a `case`, a comprehension, a `fold` or alternatives.
#[derive(Clone, Debug)]
pub struct ValueAst {
    pub kind: ValueAstKind,
    pub span: Span,
}

/// Kind of a value.
#[derive(Clone, Debug)]
pub enum ValueAstKind {
    /// `x`, `b?`, `xs...`, or nothing.
    Name(Operand),
    /// Call of an operator or a function.
    Call(Box<CallAst>),
    /// Constant: `1.0`, `[0, -1]`, `@axes`, `full(float, [2], 0)`.
    Literal(ExprAst),
    /// `case { @cap == 0.0: s   else: t }`.
    Case(Vec<ArmAst>),
    /// `[Relu (x) for x in xs]`.
    Each(Box<EachAst<ValueAst>>),
    /// `fold sum = x for @i in list: Add (sum, @i)`.
    Fold(Box<FoldAst>),
    /// `Mul (d, d) | Pow (d, 2.0)`, in a pattern.
    Alternatives(Vec<ValueAst>),
}

/// Call of an operator or a function.
pub type CallAst = Call<ExprAst, ValueAst>;

/// Arm of a `case`.
#[derive(Clone, Debug)]
pub struct ArmAst {
    /// `None` for `else`.
    pub condition: Option<ExprAst>,
    pub value: ValueAst,
}

/// `body for @i, x in xs`, or `body for @i in list`.
#[derive(Clone, Debug)]
pub struct EachAst<B> {
    pub body: B,
    /// Index in the list; with [`EachOver::List`], the item.
    pub attr: Option<Name>,
    pub over: EachOver,
}

/// `fold name = initial for @i in list: body`.
/// The body is evaluated for each item, with the previous result.
#[derive(Clone, Debug)]
pub struct FoldAst {
    pub name: Name,
    pub initial: ValueAst,
    pub each: EachAst<ValueAst>,
}

/// Range of a comprehension.
#[derive(Clone, Debug)]
pub enum EachOver {
    Values { item: Name, values: Name },
    List(Box<ExprAst>),
}

/// Message with placeholders.
#[derive(Clone, Debug)]
pub struct TextAst {
    pub parts: Vec<TextPart>,
    pub span: Span,
}

/// Part of a message.
#[derive(Clone, Debug)]
pub enum TextPart {
    Text(String),
    Hole(ExprAst),
}

/// Expression.
#[derive(Clone, Debug)]
pub struct ExprAst {
    pub kind: ExprAstKind,
    pub span: Span,
}

/// Kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprAstKind {
    /// `_`.
    Any,
    /// `@a`, or `@a?` if it may be absent.
    Attr {
        name: Name,
        optional: bool,
    },
    /// Value, by name.
    Word(Name),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Bool(bool),
    Elem(ElemType),
    Tensor(Arc<Tensor>),
    List(Vec<ExprAst>),
    /// `[dim(p, 0) for p in parts]`.
    Each(Box<EachAst<ExprAst>>),
    Call {
        name: Name,
        args: Vec<ExprAst>,
    },
    Index {
        list: Box<ExprAst>,
        index: Box<ExprAst>,
    },
    Negate(Box<ExprAst>),
    Not(Box<ExprAst>),
    Binary {
        op: BinaryOp,
        left: Box<ExprAst>,
        right: Box<ExprAst>,
    },
    Compare {
        op: CompareOp,
        left: Box<ExprAst>,
        right: Box<ExprAst>,
    },
    In {
        item: Box<ExprAst>,
        list: Box<ExprAst>,
    },
    And(Vec<ExprAst>),
    Or(Vec<ExprAst>),
}

/// Example of a rule.
#[derive(Clone, Debug)]
pub struct ExampleAst {
    pub name: Name,
    /// Opset: `N` in `at opset N` or `from N to M`.
    pub opset: Option<(i64, Span)>,
    /// Target opset: `M` in `from N to M`.
    pub target: Option<(i64, Span)>,
    /// Target profile: `for NAME`.
    pub profile: Option<Name>,
    /// Header (`<ir_version: …>`), if the example is a whole model.
    pub header: Option<Header>,
    pub graph: Graph,
    pub functions: Vec<Function>,
    pub expect: ExpectAst,
    /// Span between the braces of the example.
    pub inside: Span,
    /// Whether the example derives from another example (`but`).
    pub is_derived: bool,
    /// Whether element types of inputs were changed, so that those of other values must be inferred.
    pub is_retyped: bool,
    /// Changed text of a derived example; the spans of its graph refer to it.
    pub text: Option<Source>,
    pub span: Span,
}

/// Expected outcome of an example.
#[derive(Clone, Debug)]
pub enum ExpectAst {
    RewritesTo(RewrittenAst),
    /// The result is legal at the target and computes equal results.
    Equivalent,
    NoMatch,
    /// Empty for `reports nothing`.
    Reports(Vec<Name>),
}

/// Expected graph after a rewrite.
#[derive(Clone, Debug)]
pub enum RewrittenAst {
    /// `{ g (…) => (…) { … } }`.
    Graph(Graph),
    /// `<…> { … }`: nodes, with the interface of the example.
    Nodes { values: Option<Vec<Declared>>, nodes: Vec<Node<AttrSyntax>> },
}
