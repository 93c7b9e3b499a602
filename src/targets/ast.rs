//! What a target file says, before names are resolved.

use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Op};
use crate::rules::syntax::ast::{ExprAst, Statement};

/// `target onnxruntime { … }`.
#[derive(Clone, Debug)]
pub struct TargetAst {
    pub name: Name,
    pub title: Option<Name>,
    pub aliases: Vec<Name>,
    pub versions: Vec<VersionAst>,
    /// What holds for every version.
    pub sections: Vec<SectionAst>,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

/// `version 1.31 { … }`.
#[derive(Clone, Debug)]
pub struct VersionAst {
    pub number: Name,
    pub sections: Vec<SectionAst>,
}

/// `measured "how" on "2026-11-22" { … }`.
#[derive(Clone, Debug)]
pub struct SectionAst {
    /// `measured`, `documented` or `inferred`.
    pub known: Name,
    pub source: Name,
    pub date: Name,
    pub facts: Vec<FactAst>,
}

/// One line of a section.
#[derive(Clone, Debug)]
pub enum FactAst {
    /// `opset 7..=26`.
    Opset(RangeAst),
    /// `ir ..=13`.
    Ir(RangeAst),
    /// `needs static except axis 0`.
    Static { free: Vec<i64> },
    /// `domain ai.onnx, ai.onnx.ml`.
    Domains(Vec<Name>),
    /// `nothing else because "…"`.
    NothingElse { because: Option<Name> },
    /// `op Conv@1, Gemm where { … } because "…"`.
    Op(LineAst),
    /// `not match { y = Mul (x, Erf (x)) } where { … } because "…"`.
    Match(PatternAst),
}

#[derive(Clone, Copy, Debug)]
pub struct RangeAst {
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct LineAst {
    /// Not so with `not op`.
    pub is_taken: bool,
    pub ops: Vec<Op>,
    pub conditions: Vec<ExprAst>,
    pub because: Option<Name>,
}

/// Several nodes that are not taken together.
#[derive(Clone, Debug)]
pub struct PatternAst {
    pub nodes: Vec<Statement>,
    pub conditions: Vec<ExprAst>,
    pub because: Option<Name>,
    pub span: Span,
}
