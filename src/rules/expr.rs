//! Expressions of `where`, `let`, attributes of a rewrite, and messages.

use std::sync::Arc;

use globset::GlobMatcher;

use crate::graph::syntax::Span;
use crate::graph::{ElemType, Tensor};

use super::func::Func;
use super::rule::{AttrVarId, VarId};

/// An expression. It may be undefined (a fact that is not known, an index out of range), which is no
/// fault: the rule then does not match.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `@a`.
    Attr(AttrVarId),
    /// `x`: only as an argument of a function that takes a value.
    Value(VarId),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Bool(bool),
    /// `float16`.
    Elem(ElemType),
    /// `int64[2] {1,2}`.
    Tensor(Arc<Tensor>),
    List(Vec<Expr>),
    /// `[body for p in parts]`.
    Each {
        body: Box<Expr>,
        each: Each,
    },
    Call {
        func: Func,
        args: Vec<Expr>,
    },
    /// `list[index]`; a negative index counts from the end.
    Index {
        list: Box<Expr>,
        index: Box<Expr>,
    },
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Compare {
        op: CompareOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `item in list`; `not in` is a [`ExprKind::Not`] around it.
    In {
        item: Box<Expr>,
        list: Box<Expr>,
    },
    /// `is_like(text, "/encoder/**")`.
    Like {
        text: Box<Expr>,
        form: Arc<GlobMatcher>,
    },
    /// False as soon as one is false, even where another is undefined.
    And(Vec<Expr>),
    /// True as soon as one is true, even where another is undefined.
    Or(Vec<Expr>),
}

/// `for @i, x in xs`, `for @i in list`: what is done for each of many.
#[derive(Clone, Debug)]
pub struct Each {
    /// The place among the values; the item itself where there are no values.
    pub attr: Option<AttrVarId>,
    pub over: Over,
}

#[derive(Clone, Debug)]
pub enum Over {
    Values { item: VarId, values: VarId },
    List(Box<Expr>),
}

/// On two lists of equal length, or a list and a number, they work element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// `/`: of two integers only where it leaves no rest, undefined otherwise.
    Div,
    /// `//`: rounded down.
    FloorDiv,
    /// `%`: has the sign of the divisor.
    Mod,
}

impl BinaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Mod => "%",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}
