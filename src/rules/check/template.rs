//! Messages.

use super::{Faults, arc, expr};
use crate::diag::Finding;
use crate::rules::rule::{Part, Template};
use crate::rules::syntax::ast::{ExprAst, ExprAstKind, TextAst, TextPart};

use super::scope::Scope;

fn only_names(faults: &Faults, hole: &ExprAst) -> Finding {
    faults
        .at(hole.span, "the code of an analysis fills in names only")
        .help("`{word}`, with a word that the analysis documents")
}

/// A message whose holes are values and expressions of the pattern.
pub fn checked(ast: &TextAst, scope: &mut Scope, faults: &mut Faults) -> Template {
    let part = |part: &TextPart| match part {
        TextPart::Text(text) => Some(Part::Text(arc(text))),
        TextPart::Hole(hole) => match &hole.kind {
            ExprAstKind::Word(name) => scope.value(name, faults).map(Part::Value),
            _ => expr::expr(hole, scope, faults).map(Part::Expr),
        },
    };
    Template { parts: ast.parts.iter().filter_map(part).collect(), span: ast.span }
}

/// A message whose holes are filled in by the code of an analysis.
pub fn named(ast: &TextAst, faults: &mut Faults) -> Template {
    let part = |part: &TextPart| match part {
        TextPart::Text(text) => Some(Part::Text(arc(text))),
        TextPart::Hole(hole) => match &hole.kind {
            ExprAstKind::Word(name) => Some(Part::Named(name.text.clone())),
            _ => {
                faults.push(only_names(faults, hole));
                None
            }
        },
    };
    Template { parts: ast.parts.iter().filter_map(part).collect(), span: ast.span }
}
