//! What a rule file says, before names are resolved.

use std::sync::Arc;

use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{AttrSyntax, Declared, Function, Graph, Header, Name, Node, Operand};
use crate::graph::{ElemType, Tensor};
use crate::rules::expr::{BinaryOp, CompareOp};

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
    Mends(Name),
    Message(TextAst),
    Help(TextAst),
    Match(Vec<Statement>),
    Where(Vec<ExprAst>),
    Let { var: Name, expr: ExprAst },
    Rewrite { both: bool, statements: Vec<Statement> },
    Detect(Name),
    Example(Box<ExampleAst>),
}

/// A line of `match` or `rewrite`.
#[derive(Clone, Debug)]
pub enum Statement {
    Node(Node<ExprAst>),
    /// `y = x`.
    Alias {
        target: Operand,
        source: Name,
        span: Span,
    },
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
    /// Where the example is a whole model: its `<ir_version: …>`.
    pub header: Option<Header>,
    pub graph: Graph,
    pub functions: Vec<Function>,
    pub expect: ExpectAst,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpectAst {
    Becomes(BecomesAst),
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
