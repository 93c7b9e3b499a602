//! What a rule file says, before names are resolved.

use std::sync::Arc;

use crate::graph::syntax::ast::{AttrSyntax, Call, Declared, Function, Graph, Header, Name, Node, Operand};
use crate::graph::syntax::{Source, Span};
use crate::graph::{ElemType, Tensor};
use crate::rules::expr::{BinaryOp, CompareOp};

/// A rule file.
#[derive(Clone, Debug, Default)]
pub struct FileAst {
    /// `language 2`.
    pub language: Option<(i64, Span)>,
    /// `defaults { … }`: what a rule of the file that does not say otherwise says.
    pub defaults: Vec<Entry>,
    pub functions: Vec<FnAst>,
    pub rules: Vec<RuleAst>,
    /// Whether all that its rules may refer to could be read.
    pub is_whole: bool,
}

/// `fn softcapped(s, @cap) = …`.
#[derive(Clone, Debug)]
pub struct FnAst {
    pub name: Name,
    pub params: Vec<ParamAst>,
    /// The lines of `{ … }` but for the last one.
    pub statements: Vec<Statement>,
    pub result: ValueAst,
    /// The opset that its file says its operators are of.
    pub at: Option<i64>,
    pub span: Span,
}

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
    /// From its docs to its closing brace.
    pub span: Span,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

/// One entry of a rule, in the order written.
#[derive(Clone, Debug)]
pub struct Entry {
    pub keyword: Name,
    pub kind: EntryKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum EntryKind {
    Severity(Name),
    Phase(Name),
    Safety(Name),
    /// `at 9`.
    At(i64, Span),
    Mends(Name),
    Message(TextAst),
    Help(TextAst),
    Match(Vec<Statement>),
    Where(Vec<ExprAst>),
    Let {
        var: Name,
        expr: ExprAst,
    },
    /// `given finite(x)`: what the values of a run must be for the rule to hold.
    Given(Vec<GivenAst>),
    Rewrite {
        both: bool,
        statements: Vec<Statement>,
    },
    Detect(Name),
    Example(Box<ExampleAst>),
}

/// `finite(x)`.
#[derive(Clone, Debug)]
pub struct GivenAst {
    pub what: Name,
    pub value: Name,
}

/// A line of `match` or `rewrite`.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `a, b = Op (x)`, `y = x`.
    Make { targets: Vec<Operand>, source: ValueAst, span: Span },
    /// `let @a = …`, in a rewrite.
    Let { var: Name, expr: ExprAst, span: Span },
}

/// What may stand where a value may stand.
#[derive(Clone, Debug)]
pub struct ValueAst {
    pub kind: ValueAstKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ValueAstKind {
    /// `x`, `b?`, `xs...`, or nothing.
    Name(Operand),
    /// Of an operator, or of a function.
    Call(Box<CallAst>),
    /// A constant: `1.0`, `[0, -1]`, `@axes`, `full(float, [2], 0)`.
    Literal(ExprAst),
    /// `case { @cap == 0.0: s   else: t }`.
    Case(Vec<ArmAst>),
    /// `[Relu (x) for x in xs]`.
    Each(Box<EachAst<ValueAst>>),
}

pub type CallAst = Call<ExprAst, ValueAst>;

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
    /// The place in the list, or with [`EachOver::List`] the item.
    pub attr: Option<Name>,
    pub over: EachOver,
}

#[derive(Clone, Debug)]
pub enum EachOver {
    Values { item: Name, values: Name },
    List(Box<ExprAst>),
}

/// A message with holes.
#[derive(Clone, Debug)]
pub struct TextAst {
    pub parts: Vec<TextPart>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TextPart {
    Text(String),
    Hole(ExprAst),
}

#[derive(Clone, Debug)]
pub struct ExprAst {
    pub kind: ExprAstKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprAstKind {
    /// `_`.
    Any,
    /// `@a`; `@a?` where it may be absent.
    Attr {
        name: Name,
        optional: bool,
    },
    /// A value, by its name.
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

#[derive(Clone, Debug)]
pub struct ExampleAst {
    pub name: Name,
    /// `at opset N`, or the first number of `from N to M`.
    pub opset: Option<(i64, Span)>,
    /// The second number of `from N to M`.
    pub target: Option<(i64, Span)>,
    /// `for NAME`.
    pub profile: Option<Name>,
    /// Where the example is a whole model: its `<ir_version: …>`.
    pub header: Option<Header>,
    pub graph: Graph,
    pub functions: Vec<Function>,
    pub expect: ExpectAst,
    /// What stands between its braces.
    pub inside: Span,
    /// Where it is another example with other words in it (`but`): its own text. The places of its graph are in that.
    pub text: Option<Source>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpectAst {
    Becomes(BecomesAst),
    /// Something that is legal at the target and gives equal numbers.
    Computes,
    Unchanged,
    /// Empty for `finds nothing`.
    Finds(Vec<Name>),
}

#[derive(Clone, Debug)]
pub enum BecomesAst {
    /// `{ g (…) => (…) { … } }`.
    Graph(Graph),
    /// `<…> { … }`: with the interface of the example.
    Nodes { values: Option<Vec<Declared>>, nodes: Vec<Node<AttrSyntax>> },
}
