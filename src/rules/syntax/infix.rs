//! Parser of operators between values: `(x - mean) / Sqrt (var + e)`, `x < 0 and y`, `x as float`.
//!
//! Precedence from lowest to highest: `or`, `and`, `not`, comparisons, `+ -`, `* / %`, unary minus, `as`.
//! An operator becomes an expression if all of its operands are constants, and a call of an ONNX operator
//! otherwise.

use super::ast::{CallAst, ExprAst, ExprAstKind, ValueAst, ValueAstKind};
use super::expr::{in_op, primary, sum};
use crate::graph::syntax::ast::{Name, Op};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::{Span, number};
use crate::rules::expr::{BinaryOp, CompareOp};

/// Function that `x as float` calls.
pub const CAST: &str = "cast";

const COMPARISONS: [(CompareOp, &str); 6] = [
    (CompareOp::Eq, "Equal"),
    (CompareOp::Ne, "Equal"),
    (CompareOp::Le, "LessOrEqual"),
    (CompareOp::Ge, "GreaterOrEqual"),
    (CompareOp::Lt, "Less"),
    (CompareOp::Gt, "Greater"),
];

const SUMS: [(BinaryOp, &str); 2] = [(BinaryOp::Add, "Add"), (BinaryOp::Sub, "Sub")];

/// `//` comes before its prefix `/`, and has no ONNX operator.
const PRODUCTS: [(BinaryOp, &str); 4] =
    [(BinaryOp::Mul, "Mul"), (BinaryOp::FloorDiv, ""), (BinaryOp::Div, "Div"), (BinaryOp::Mod, "Mod")];

/// Parser of a value without operators.
type Atom = fn(&mut Cursor) -> Parsed<ValueAst>;

/// Parses a value with operators, whose operands `atom` parses.
pub fn value(cursor: &mut Cursor, atom: Atom) -> Parsed<ValueAst> {
    cursor.nested(|cursor| {
        joined(cursor, "or", ("Or", ExprAstKind::Or), |cursor| {
            joined(cursor, "and", ("And", ExprAstKind::And), |cursor| negation(cursor, atom))
        })
    })
}

/// Parses operands that are separated by `word`.
fn joined(
    cursor: &mut Cursor,
    word: &str,
    (name, kind): (&str, fn(Vec<ExprAst>) -> ExprAstKind),
    operand: impl Fn(&mut Cursor) -> Parsed<ValueAst>,
) -> Parsed<ValueAst> {
    let mut left = operand(cursor)?;
    while cursor.at_word(word) {
        let sign = cursor.bump().span;
        let right = operand(cursor)?;
        left = combined(left, right, |left, right| kind(vec![left, right]), (name, sign));
    }
    Ok(left)
}

fn negation(cursor: &mut Cursor, atom: Atom) -> Parsed<ValueAst> {
    if !cursor.at_word("not") {
        return comparison(cursor, atom);
    }
    let sign = cursor.bump().span;
    let inner = cursor.nested(|cursor| negation(cursor, atom))?;
    Ok(unary(inner, sign, ("Not", ExprAstKind::Not)))
}

fn comparison(cursor: &mut Cursor, atom: Atom) -> Parsed<ValueAst> {
    let left = terms(cursor, atom)?;
    if let ValueAstKind::Literal(item) = &left.kind
        && let Some(negated) = in_op(cursor)
    {
        let (item, list) = (Box::new(item.clone()), Box::new(sum(cursor)?));
        let span = left.span.to(list.span);
        let inside = ExprAst { kind: ExprAstKind::In { item, list }, span };
        let kind = if negated { ExprAstKind::Not(Box::new(inside)) } else { inside.kind };
        return Ok(ValueAst { kind: ValueAstKind::Literal(ExprAst { kind, span }), span });
    }
    let sign = cursor.peek().span;
    let Some((op, name)) = COMPARISONS.into_iter().find(|(op, _)| cursor.eat(op.symbol())) else {
        return Ok(left);
    };
    let sign = cursor.since(sign);
    let right = terms(cursor, atom)?;
    let compare = |left, right| ExprAstKind::Compare { op, left: Box::new(left), right: Box::new(right) };
    let compared = combined(left, right, compare, (name, sign));
    match (op, &compared.kind) {
        (CompareOp::Ne, ValueAstKind::Call(_)) => Ok(unary(compared, sign, ("Not", ExprAstKind::Not))),
        _ => Ok(compared),
    }
}

fn terms(cursor: &mut Cursor, atom: Atom) -> Parsed<ValueAst> {
    binary(cursor, &SUMS, |cursor| binary(cursor, &PRODUCTS, |cursor| signed(cursor, atom)))
}

fn binary(
    cursor: &mut Cursor,
    ops: &[(BinaryOp, &str)],
    operand: impl Fn(&mut Cursor) -> Parsed<ValueAst>,
) -> Parsed<ValueAst> {
    let mut left = operand(cursor)?;
    loop {
        let sign = cursor.peek().span;
        let Some(&(op, name)) = ops.iter().find(|(op, _)| cursor.eat(op.symbol())) else { return Ok(left) };
        let sign = cursor.since(sign);
        let right = operand(cursor)?;
        let compute = |left, right| ExprAstKind::Binary { op, left: Box::new(left), right: Box::new(right) };
        left = combined(left, right, compute, (name, sign));
        if name.is_empty() && matches!(left.kind, ValueAstKind::Call(_)) {
            return Err(cursor.fault(sign, "`//` is only defined for constants"));
        }
    }
}

fn signed(cursor: &mut Cursor, atom: Atom) -> Parsed<ValueAst> {
    if cursor.at("-") && !number::at_signed(cursor) {
        let sign = cursor.bump().span;
        let inner = cursor.nested(|cursor| signed(cursor, atom))?;
        return Ok(unary(inner, sign, ("Neg", ExprAstKind::Negate)));
    }
    let mut value = atom(cursor)?;
    while cursor.at_word("as") {
        let sign = cursor.bump().span;
        let elem = primary(cursor)?;
        let elem = ValueAst { span: elem.span, kind: ValueAstKind::Literal(elem) };
        value = call(CAST, sign, vec![value, elem]);
    }
    Ok(value)
}

/// Combines two operands: two constants to a constant, any others to a call.
fn combined(
    left: ValueAst,
    right: ValueAst,
    constant: impl Fn(ExprAst, ExprAst) -> ExprAstKind,
    (name, sign): (&str, Span),
) -> ValueAst {
    let span = left.span.to(right.span);
    match (left.kind, right.kind) {
        (ValueAstKind::Literal(left), ValueAstKind::Literal(right)) => {
            ValueAst { kind: ValueAstKind::Literal(ExprAst { kind: constant(left, right), span }), span }
        }
        (a, b) => {
            let inputs = vec![ValueAst { kind: a, span: left.span }, ValueAst { kind: b, span: right.span }];
            call(name, sign, inputs)
        }
    }
}

fn unary(inner: ValueAst, sign: Span, (name, kind): (&str, fn(Box<ExprAst>) -> ExprAstKind)) -> ValueAst {
    let span = sign.to(inner.span);
    match inner.kind {
        ValueAstKind::Literal(expr) => {
            ValueAst { kind: ValueAstKind::Literal(ExprAst { kind: kind(Box::new(expr)), span }), span }
        }
        kind => ValueAst { span, ..call(name, sign, vec![ValueAst { kind, span: inner.span }]) },
    }
}

fn call(name: &str, sign: Span, inputs: Vec<ValueAst>) -> ValueAst {
    let span = inputs.iter().fold(sign, |span, input| Span {
        start: span.start.min(input.span.start),
        end: span.end.max(input.span.end),
    });
    let name = Name { text: name.into(), span: sign };
    let op = Op { domain: "".into(), name, epoch: None, overload: None, var: None, span: sign };
    let call = CallAst { op, attrs: Vec::new(), rest: None, inputs, span };
    ValueAst { kind: ValueAstKind::Call(Box::new(call)), span }
}
