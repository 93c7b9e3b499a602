//! Messages and help texts with placeholders.

use super::{Faults, arc, expr};
use crate::rules::rule::{Part, Template};
use crate::rules::syntax::ast::{ExprAstKind, TextAst, TextPart};

use super::scope::Scope;

/// Checks a text whose placeholders are values and expressions of the pattern.
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
