//! Syntax trees of target files, before names are resolved.

use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Op};
use crate::rules::syntax::ast::{ExprAst, Statement};

/// Target: `target onnxruntime { … }`.
#[derive(Clone, Debug)]
pub struct TargetAst {
    pub name: Name,
    pub title: Option<Name>,
    pub aliases: Vec<Name>,
    pub versions: Vec<VersionAst>,
    /// Sections that apply to every version.
    pub sections: Vec<SectionAst>,
    /// Whether the whole target could be parsed.
    pub is_whole: bool,
}

/// Version: `version 1.31 { … }`.
#[derive(Clone, Debug)]
pub struct VersionAst {
    pub number: Name,
    pub sections: Vec<SectionAst>,
}

/// Section: `measured "how" on "2026-11-22" { … }`.
#[derive(Clone, Debug)]
pub struct SectionAst {
    /// Kind of evidence: `measured`, `documented` or `inferred`.
    pub known: Name,
    pub source: Name,
    pub date: Name,
    pub facts: Vec<FactAst>,
}

/// Line of a section.
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

/// Range of versions.
#[derive(Clone, Copy, Debug)]
pub struct RangeAst {
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub span: Span,
}

/// Line about the support of operators.
#[derive(Clone, Debug)]
pub struct LineAst {
    /// False for `not op`.
    pub is_taken: bool,
    pub ops: Vec<Op>,
    pub conditions: Vec<ExprAst>,
    pub because: Option<Name>,
}

/// Pattern of nodes that are not supported in combination.
#[derive(Clone, Debug)]
pub struct PatternAst {
    pub nodes: Vec<Statement>,
    pub conditions: Vec<ExprAst>,
    pub because: Option<Name>,
    pub span: Span,
}
