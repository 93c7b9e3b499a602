//! Expressions of `where`, `let`, rewrite attributes and messages.

use std::sync::Arc;

use globset::GlobMatcher;

use crate::graph::syntax::Span;
use crate::graph::{ElemType, Tensor};

use super::func::Func;
use super::var::{AttrVarId, VarId};

/// Expression of a rule.
/// An expression may be undefined, for example because of an unknown fact. If a condition, a `let` or an
/// expression that the rewrite needs is undefined, the rule does not match; in a message, an undefined
/// expression is printed as `?`.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// Kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `@a`.
    Attr(AttrVarId),
    /// `x`: only allowed as an argument of a function that takes a value.
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
    /// A comprehension, such as `[body for p in parts]`.
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
    /// `item in list`; `item not in list` is an [`ExprKind::Not`] around an [`ExprKind::In`].
    In {
        item: Box<Expr>,
        list: Box<Expr>,
    },
    /// A glob match, such as `is_like(text, "/encoder/**")`.
    Like {
        text: Box<Expr>,
        form: Arc<GlobMatcher>,
    },
    /// `and`: false if one operand is false, even if another operand is undefined.
    And(Vec<Expr>),
    /// `or`: true if one operand is true, even if another operand is undefined.
    Or(Vec<Expr>),
}

/// Range of a comprehension, such as `for @i, x in xs` or `for @i in list`.
#[derive(Clone, Debug)]
pub struct Each {
    /// Index among the values, or the item itself if the range is a list.
    pub attr: Option<AttrVarId>,
    pub over: Over,
}

/// Items of a comprehension.
#[derive(Clone, Debug)]
pub enum Over {
    Values { item: VarId, values: VarId },
    List(Box<Expr>),
}

/// Arithmetic operator.
/// An operator is applied element by element to two lists of equal length, or to a list and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// `/`: undefined for two integers that leave a remainder.
    Div,
    /// `//`: rounded down.
    FloorDiv,
    /// `%`: the remainder has the sign of the divisor.
    Mod,
}

impl BinaryOp {
    /// Returns the symbol of the operator in rule files.
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

/// Comparison operator.
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
    /// Returns the symbol of the operator in rule files.
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
