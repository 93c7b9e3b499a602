//! Expression grammar.
//!
//! Precedence from lowest to highest: `or`, `and`, `not`, comparisons and `in`, `+ -`, `* / // %`, unary
//! minus, `[index]`.

use std::str::FromStr;
use std::sync::Arc;

use super::ast::{EachAst, EachOver, ExprAst, ExprAstKind};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::node::Dialect;
use crate::graph::syntax::{Span, number, types};
use crate::graph::{AttrKind, ElemType};
use crate::rules::expr::{BinaryOp, CompareOp};

/// Node syntax of `match` and `rewrite`.
pub struct RuleNodes;

impl Dialect for RuleNodes {
    type Value = ExprAst;

    const RULES: bool = true;

    fn value(cursor: &mut Cursor, _kind: Option<AttrKind>) -> Parsed<ExprAst> {
        computed(cursor)
    }
}

/// Parses an attribute or a constant: no comparisons, since their `>` would end the attribute list.
pub fn computed(cursor: &mut Cursor) -> Parsed<ExprAst> {
    cursor.nested(sum)
}

/// Parses a whole expression.
pub fn expr(cursor: &mut Cursor) -> Parsed<ExprAst> {
    cursor.nested(|cursor| {
        let parts = joined(cursor, "or", |cursor| {
            let parts = joined(cursor, "and", negation)?;
            Ok(group(parts, ExprAstKind::And))
        })?;
        Ok(group(parts, ExprAstKind::Or))
    })
}

/// Joins several operands into one expression; returns a single operand unchanged.
fn group(mut parts: Vec<ExprAst>, kind: fn(Vec<ExprAst>) -> ExprAstKind) -> ExprAst {
    let span = parts[0].span.to(parts[parts.len() - 1].span);
    if parts.len() == 1 { parts.remove(0) } else { ExprAst { kind: kind(parts), span } }
}

/// Parses at least one operand, separated by `word`.
fn joined(
    cursor: &mut Cursor,
    word: &str,
    mut operand: impl FnMut(&mut Cursor) -> Parsed<ExprAst>,
) -> Parsed<Vec<ExprAst>> {
    let mut parts = vec![operand(cursor)?];
    while cursor.eat_word(word) {
        parts.push(operand(cursor)?);
    }
    Ok(parts)
}

fn negation(cursor: &mut Cursor) -> Parsed<ExprAst> {
    let start = cursor.peek().span;
    if !cursor.eat_word("not") {
        return comparison(cursor);
    }
    let inner = cursor.nested(negation)?;
    Ok(not(inner, cursor.since(start)))
}

fn not(inner: ExprAst, span: Span) -> ExprAst {
    ExprAst { kind: ExprAstKind::Not(Box::new(inner)), span }
}

/// Parses comparisons; `0 <= @a < 4` means `0 <= @a and @a < 4`.
fn comparison(cursor: &mut Cursor) -> Parsed<ExprAst> {
    let first = sum(cursor)?;
    let start = first.span;
    let mut parts = Vec::new();
    let mut left = first;
    loop {
        if let Some(op) = compare_op(cursor) {
            let right = sum(cursor)?;
            let span = left.span.to(right.span);
            let (a, b) = (Box::new(left), Box::new(right.clone()));
            parts.push(ExprAst { kind: ExprAstKind::Compare { op, left: a, right: b }, span });
            left = right;
        } else if let Some(negated) = in_op(cursor) {
            let list = Box::new(sum(cursor)?);
            let span = left.span.to(list.span);
            let inside = ExprAst { kind: ExprAstKind::In { item: Box::new(left), list }, span };
            parts.push(if negated { not(inside, span) } else { inside });
            return Ok(group(parts, ExprAstKind::And));
        } else if parts.is_empty() {
            return Ok(ExprAst { span: start, ..left });
        } else {
            return Ok(group(parts, ExprAstKind::And));
        }
    }
}

/// Parses `in` (`Some(false)`) or `not in` (`Some(true)`).
pub(super) fn in_op(cursor: &mut Cursor) -> Option<bool> {
    if cursor.eat_word("in") {
        return Some(false);
    }
    let next = cursor.nth(1);
    let is_not_in = cursor.at_word("not") && next.kind == TokenKind::Ident && cursor.text_of(next) == "in";
    is_not_in.then(|| {
        cursor.bump();
        cursor.bump();
        true
    })
}

fn compare_op(cursor: &mut Cursor) -> Option<CompareOp> {
    const OPS: [CompareOp; 6] =
        [CompareOp::Eq, CompareOp::Ne, CompareOp::Le, CompareOp::Ge, CompareOp::Lt, CompareOp::Gt];
    OPS.into_iter().find(|op| cursor.eat(op.symbol()))
}

/// Parses an expression without comparisons.
pub(super) fn sum(cursor: &mut Cursor) -> Parsed<ExprAst> {
    binary(cursor, &[BinaryOp::Add, BinaryOp::Sub], |cursor| {
        // Try `//` before its prefix `/`.
        binary(cursor, &[BinaryOp::Mul, BinaryOp::FloorDiv, BinaryOp::Div, BinaryOp::Mod], factor)
    })
}

fn binary(
    cursor: &mut Cursor,
    ops: &[BinaryOp],
    mut operand: impl FnMut(&mut Cursor) -> Parsed<ExprAst>,
) -> Parsed<ExprAst> {
    let mut left = operand(cursor)?;
    while let Some(&op) = ops.iter().find(|op| cursor.eat(op.symbol())) {
        let right = operand(cursor)?;
        let span = left.span.to(right.span);
        left =
            ExprAst { kind: ExprAstKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span };
    }
    Ok(left)
}

/// Parses an expression without operators, except for a sign.
pub(super) fn factor(cursor: &mut Cursor) -> Parsed<ExprAst> {
    let start = cursor.peek().span;
    if cursor.at("-") && !number::at_signed(cursor) {
        cursor.bump();
        let inner = cursor.nested(factor)?;
        return Ok(ExprAst { kind: ExprAstKind::Negate(Box::new(inner)), span: cursor.since(start) });
    }
    let list = primary(cursor)?;
    indexed(cursor, list)
}

/// Parses the indices after an expression: `@list[0]`.
pub(super) fn indexed(cursor: &mut Cursor, mut list: ExprAst) -> Parsed<ExprAst> {
    let start = list.span;
    // Only an adjacent bracket is an index: the next condition may begin with a bracket.
    while cursor.at("[") && cursor.peek().span.start == list.span.end {
        cursor.bump();
        let index = expr(cursor)?;
        cursor.expect("]")?;
        let span = cursor.since(start);
        list = ExprAst { kind: ExprAstKind::Index { list: Box::new(list), index: Box::new(index) }, span };
    }
    Ok(list)
}

/// Parses a constant, a variable, a call, a list, or an expression in parentheses.
pub(super) fn primary(cursor: &mut Cursor) -> Parsed<ExprAst> {
    let start = cursor.peek().span;
    let kind = match cursor.peek().kind {
        TokenKind::Sign(b'@') => {
            cursor.bump();
            let name = cursor.ident("an attribute variable")?;
            ExprAstKind::Attr { name, optional: cursor.eat("?") }
        }
        TokenKind::Sign(b'(') => {
            cursor.bump();
            let inner = expr(cursor)?;
            cursor.expect(")")?;
            return Ok(ExprAst { span: cursor.since(start), ..inner });
        }
        TokenKind::Sign(b'[') => {
            cursor.bump();
            list(cursor)?
        }
        TokenKind::Quoted => ExprAstKind::Str(cursor.string("a string")?.text),
        _ if number::at_int(cursor) => ExprAstKind::Int(number::int(cursor)?),
        _ if number::at_number(cursor) => ExprAstKind::Float(number::float64(cursor)?),
        TokenKind::Ident => word(cursor)?,
        _ => return Err(cursor.expected("an expression")),
    };
    Ok(ExprAst { kind, span: cursor.since(start) })
}

/// Parses `1, 2]` or `dim(p, 0) for p in parts]`, after the opening bracket.
fn list(cursor: &mut Cursor) -> Parsed<ExprAstKind> {
    let mut each = None;
    let items = cursor.list("]", |cursor| {
        let item = expr(cursor)?;
        if cursor.at_word("for") && each.is_none() {
            each = Some(after_body(cursor, item.clone())?);
        }
        Ok(item)
    })?;
    match each {
        Some(each) if items.len() == 1 => Ok(ExprAstKind::Each(Box::new(each))),
        Some(_) => Err(cursor.fault(items[0].span, "a comprehension has exactly one item before `for`")),
        None => Ok(ExprAstKind::List(items)),
    }
}

/// Parses `_`, `true`, `float16`, `float {1}`, `dtype(x)` or `x`.
fn word(cursor: &mut Cursor) -> Parsed<ExprAstKind> {
    let next = cursor.nth(1);
    if let Ok(elem) = ElemType::from_str(cursor.text_of(cursor.peek())) {
        if !matches!(next.kind, TokenKind::Sign(b'{' | b'[')) {
            cursor.bump();
            return Ok(ExprAstKind::Elem(elem));
        }
        let ty = types::ty(cursor)?;
        let tensor = types::tensor_data(cursor, &ty, None)?;
        return Ok(ExprAstKind::Tensor(Arc::new(tensor)));
    }
    let name = cursor.ident("an expression")?;
    Ok(match &*name.text {
        "_" => ExprAstKind::Any,
        "true" => ExprAstKind::Bool(true),
        "false" => ExprAstKind::Bool(false),
        _ if cursor.eat("(") => ExprAstKind::Call { name, args: cursor.list(")", expr)? },
        _ => ExprAstKind::Word(name),
    })
}

/// Parses `for x in xs`, `for @i, x in xs`, `for @i in list`.
pub fn after_body<B>(cursor: &mut Cursor, body: B) -> Parsed<EachAst<B>> {
    cursor.bump();
    let attr = if cursor.eat("@") { Some(cursor.ident("an attribute variable")?) } else { None };
    let has_item = attr.is_none() || cursor.eat(",");
    let item = if has_item { Some(cursor.ident("a name for the items")?) } else { None };
    if !cursor.eat_word("in") {
        return Err(cursor.expected("`in`"));
    }
    let over = match item {
        Some(item) => EachOver::Values { item, values: cursor.ident("the values, as in `for x in xs`")? },
        None => EachOver::List(Box::new(expr(cursor)?)),
    };
    Ok(EachAst { body, attr, over })
}
