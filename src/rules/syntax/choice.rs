//! `case` and `fold`.

use super::ast::{ArmAst, EachAst, ExprAst, ExprAstKind, FoldAst, ValueAst};
use super::expr::{after_body, computed, expr};
use crate::graph::ElemType;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::rules::expr::CompareOp;
use crate::rules::func::Func;

/// Parser of a value.
type Value = fn(&mut Cursor) -> Parsed<ValueAst>;

/// Returns true if `case { … }`, `case @op { … }` or `case dtype(x) { … }` begins here.
pub fn begins_case(cursor: &Cursor) -> bool {
    let is_call = || cursor.nth(1).kind == TokenKind::Ident && cursor.nth(2).kind == TokenKind::Sign(b'(');
    cursor.at_word("case") && (matches!(cursor.nth(1).kind, TokenKind::Sign(b'{' | b'@')) || is_call())
}

/// Parses `case { condition: value … else: value }` or `case @op { relu: value … else: value }`.
pub fn case(cursor: &mut Cursor, value: Value) -> Parsed<Vec<ArmAst>> {
    cursor.bump();
    let subject = if cursor.at("{") { None } else { Some(expr(cursor)?) };
    cursor.expect("{")?;
    let mut arms: Vec<ArmAst> = Vec::new();
    loop {
        let condition = match &subject {
            _ if cursor.eat_word("else") => None,
            Some(subject) => Some(labels(cursor, subject)?),
            None => Some(expr(cursor)?),
        };
        cursor.expect(":")?;
        let is_last = condition.is_none();
        arms.push(ArmAst { condition, value: value(cursor)? });
        if is_last {
            cursor.expect("}")?;
            return Ok(arms);
        }
        if cursor.at("}") {
            return Err(cursor.expected("`else: …` for the case that no condition holds"));
        }
    }
}

/// Parses `relu | relu6`, `int8 | uint8` or `1 | 2` before a colon, as a condition on the subject.
fn labels(cursor: &mut Cursor, subject: &ExprAst) -> Parsed<ExprAst> {
    let start = cursor.peek().span;
    let mut labels = vec![label(cursor)?];
    while cursor.eat("|") {
        labels.push(label(cursor)?);
    }
    let span = cursor.since(start);
    let are_names = labels.iter().all(|label| matches!(label.kind, ExprAstKind::Str(_)));
    let boxed = |expr: &ExprAst| Box::new(expr.clone());
    let kind = match &labels[..] {
        _ if are_names => {
            let name = Name { text: Func::IsOp.name().into(), span };
            let list = ExprAst { kind: ExprAstKind::List(labels), span };
            ExprAstKind::Call { name, args: vec![subject.clone(), list] }
        }
        [one] => ExprAstKind::Compare { op: CompareOp::Eq, left: boxed(subject), right: boxed(one) },
        _ => {
            let list = Box::new(ExprAst { kind: ExprAstKind::List(labels), span });
            ExprAstKind::In { item: boxed(subject), list }
        }
    };
    Ok(ExprAst { kind, span })
}

/// Parses a name such as `relu` or `max.dim`, an element type, or a constant.
fn label(cursor: &mut Cursor) -> Parsed<ExprAst> {
    let start = cursor.peek().span;
    if !cursor.at_ident() {
        return computed(cursor);
    }
    let kind = match cursor.text_of(cursor.peek()) {
        "true" | "false" => return computed(cursor),
        word => match word.parse::<ElemType>() {
            Ok(_) => return computed(cursor),
            Err(_) => ExprAstKind::Str(dotted(cursor)?),
        },
    };
    Ok(ExprAst { kind, span: cursor.since(start) })
}

fn dotted(cursor: &mut Cursor) -> Parsed<std::sync::Arc<str>> {
    let mut end = cursor.bump().span;
    let start = end;
    while cursor.eat(".") {
        end = cursor.ident("the next part of the name")?.span;
    }
    let span: Span = start.to(end);
    Ok(cursor.source.slice(span).into())
}

/// Parses `fold sum = x for @i in list: Add (sum, @i)`.
pub fn fold(cursor: &mut Cursor, value: Value) -> Parsed<FoldAst> {
    cursor.bump();
    let name = cursor.ident("a name for the intermediate result")?;
    cursor.expect("=")?;
    let initial = value(cursor)?;
    if !cursor.at_word("for") {
        return Err(cursor.expected("`for`, as in `fold sum = x for @i in list: Add (sum, @i)`"));
    }
    let EachAst { attr, over, .. } = after_body(cursor, ())?;
    cursor.expect(":")?;
    let body = value(cursor)?;
    Ok(FoldAst { name, initial, each: EachAst { body, attr, over } })
}
