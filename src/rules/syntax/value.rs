//! Lines of `match` and `rewrite`, and the values in them.

use std::str::FromStr;

use super::ast::{ArmAst, Statement, ValueAst, ValueAstKind};
use super::expr::{RuleNodes, after_body, computed, expr};
use crate::graph::ElemType;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::{Token, TokenKind};
use crate::graph::syntax::{Span, node, number};
use crate::rules::func::Func;

/// Parses `a, b = Op (x)`, `y = x`, or `let @a = …`.
pub fn statement(cursor: &mut Cursor) -> Parsed<Statement> {
    let start = cursor.peek().span;
    if cursor.at_word("let") && cursor.nth(1).kind == TokenKind::Sign(b'@') {
        cursor.bump();
        let (var, expr) = binding(cursor)?;
        return Ok(Statement::Let { var, expr, span: cursor.since(start) });
    }
    let targets = node::operands::<RuleNodes>(cursor)?;
    if targets.is_empty() {
        return Err(cursor.expected("a node: `y = Op (x)`"));
    }
    cursor.expect("=")?;
    let source = value(cursor)?;
    let span = cursor.since(start);
    let is_single = matches!(targets[..], [Operand { many: Many::One | Many::Any, .. }]);
    match source.kind {
        ValueAstKind::Name(_) | ValueAstKind::Literal(_) if !is_single => {
            Err(cursor.fault(span, "only a single name can be defined as equal to a value: `y = x`"))
        }
        _ => Ok(Statement::Make { targets, source, span }),
    }
}

/// Parses a statement that may not contain alternatives.
pub fn made(cursor: &mut Cursor) -> Parsed<Statement> {
    let statement = statement(cursor)?;
    if let Statement::Make { source, .. } = &statement {
        without_alternatives(cursor, source)?;
    }
    Ok(statement)
}

/// Reports alternatives in a value that does not belong to a pattern.
pub fn without_alternatives(cursor: &mut Cursor, value: &ValueAst) -> Parsed<()> {
    let Some(alternatives) = value.alternatives() else { return Ok(()) };
    let finding = cursor.finding(alternatives.span, "alternatives (`|`) are only allowed in a pattern");
    Err(cursor.report(finding.help("use `case { condition: value  else: value }`")))
}

/// Parses `@a = …` of a `let`.
pub fn binding(cursor: &mut Cursor) -> Parsed<(Name, super::ast::ExprAst)> {
    cursor.expect("@")?;
    let var = cursor.ident("an attribute variable")?;
    cursor.expect("=")?;
    Ok((var, expr(cursor)?))
}

/// Parses values separated by commas; an empty item is an absent value, as in ONNX text.
pub fn values(cursor: &mut Cursor) -> Parsed<Vec<ValueAst>> {
    let mut values = Vec::new();
    while !cursor.at(")") {
        values.push(value(cursor)?);
        if !cursor.eat(",") {
            break;
        }
    }
    Ok(values)
}

/// Parses a value: a name, a call, a constant, a `case`, a comprehension, or alternatives of these.
pub fn value(cursor: &mut Cursor) -> Parsed<ValueAst> {
    let start = cursor.peek().span;
    let first = alternative(cursor)?;
    if !cursor.at("|") {
        return Ok(first);
    }
    let mut alternatives = vec![first];
    while cursor.eat("|") {
        alternatives.push(alternative(cursor)?);
    }
    Ok(ValueAst { kind: ValueAstKind::Alternatives(alternatives), span: cursor.since(start) })
}

/// Parses a value without `|`, or alternatives in parentheses.
fn alternative(cursor: &mut Cursor) -> Parsed<ValueAst> {
    let start = cursor.peek().span;
    if begins_group(cursor) {
        cursor.bump();
        let inner = cursor.nested(value)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    let kind = cursor.nested(kind)?;
    Ok(ValueAst { kind, span: cursor.since(start) })
}

/// Returns true if a value in parentheses begins here: `(Mul (d, d) | …)` or `(x | …)`.
fn begins_group(cursor: &Cursor) -> bool {
    let opened = (0..).take_while(|&ahead| cursor.nth(ahead).kind == TokenKind::Sign(b'(')).count();
    let is_name = cursor.nth(opened).kind == TokenKind::Ident
        && matches!(cursor.nth(opened + 1).kind, TokenKind::Sign(b'|' | b'?' | b'.'));
    opened > 0 && (is_name || begins_call(cursor, opened))
}

fn kind(cursor: &mut Cursor) -> Parsed<ValueAstKind> {
    let token = cursor.peek();
    if cursor.at_word("case") && cursor.nth(1).kind == TokenKind::Sign(b'{') {
        cursor.bump();
        return arms(cursor).map(ValueAstKind::Case);
    }
    if cursor.at("[") && begins_call(cursor, 1) {
        return each(cursor);
    }
    if begins_call(cursor, 0) {
        let call = node::call_of::<RuleNodes, _>(cursor, values)?;
        return Ok(ValueAstKind::Call(Box::new(call)));
    }
    if is_constant(cursor, token) {
        return computed(cursor).map(ValueAstKind::Literal);
    }
    match node::operand::<RuleNodes>(cursor)? {
        Some(operand) => Ok(ValueAstKind::Name(operand)),
        None => Err(cursor.expected("a value")),
    }
}

/// Returns true if the token `ahead` begins a call of an operator or of a function on values.
fn begins_call(cursor: &Cursor, ahead: usize) -> bool {
    let token = cursor.nth(ahead);
    let next = cursor.nth(ahead + 1);
    match token.kind {
        // `@op (…)`: an operator variable, with or without `in […]`, `@13` and attributes.
        TokenKind::Sign(b'@') => {
            let after = cursor.nth(ahead + 2);
            let chooses = after.kind == TokenKind::Ident && cursor.text_of(after) == "in";
            chooses || matches!(after.kind, TokenKind::Sign(b'(' | b'<' | b'@'))
        }
        TokenKind::Ident if cursor.text_of(token) == "case" => next.kind == TokenKind::Sign(b'{'),
        TokenKind::Ident => match next.kind {
            TokenKind::Sign(b'(') => Func::by_name(cursor.text_of(token)).is_none(),
            TokenKind::Sign(b'.') => cursor.nth(ahead + 2).kind == TokenKind::Ident,
            TokenKind::Sign(b'<' | b'@' | b':') => begins_operator(cursor.text_of(token)),
            _ => false,
        },
        _ => false,
    }
}

/// Returns true for operator names, which begin with a capital letter, unlike functions and values.
pub fn begins_operator(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Returns true if an expression begins here: a number, list, attribute or expression function.
fn is_constant(cursor: &Cursor, token: Token) -> bool {
    let next = cursor.nth(1).kind;
    match token.kind {
        TokenKind::Sign(b'@' | b'[' | b'(' | b'-') => true,
        TokenKind::Ident => {
            let text = cursor.text_of(token);
            let is_tensor = matches!(next, TokenKind::Sign(b'{' | b'[')) && ElemType::from_str(text).is_ok();
            let is_function = next == TokenKind::Sign(b'(');
            is_tensor || is_function || matches!(text, "true" | "false") || number::at_number(cursor)
        }
        _ => number::at_number(cursor) || number::at_int(cursor),
    }
}

/// Parses `{ condition: value … else: value }`, after `case`.
fn arms(cursor: &mut Cursor) -> Parsed<Vec<ArmAst>> {
    cursor.expect("{")?;
    let mut arms: Vec<ArmAst> = Vec::new();
    loop {
        let condition = if cursor.eat_word("else") { None } else { Some(expr(cursor)?) };
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

/// Parses `[Relu (x) for x in xs]`.
fn each(cursor: &mut Cursor) -> Parsed<ValueAstKind> {
    cursor.expect("[")?;
    let body = value(cursor)?;
    if !cursor.at_word("for") {
        return Err(cursor.expected("`for`, as in `[Relu (x) for x in xs]`"));
    }
    let each = after_body(cursor, body)?;
    cursor.expect("]")?;
    Ok(ValueAstKind::Each(Box::new(each)))
}

impl ValueAst {
    /// Creates an absent value at this span.
    pub fn absent(span: Span) -> ValueAst {
        let name = Name { text: "".into(), span };
        ValueAst { kind: ValueAstKind::Name(Operand { name, many: Many::One, span }), span }
    }
}
