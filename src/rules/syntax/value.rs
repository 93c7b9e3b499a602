//! Lines of `match` and `rewrite`, and the values in them.

use std::str::FromStr;

use super::ast::{CallAst, EachAst, ExprAst, ExprAstKind, Statement, ValueAst, ValueAstKind};
use super::expr::{RuleNodes, after_body, expr, factor, indexed};
use super::{choice, infix};
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

/// Parses a value, with operators and alternatives.
/// A value consists of names, calls, constants, `case`, `fold` and comprehensions.
pub fn value(cursor: &mut Cursor) -> Parsed<ValueAst> {
    let start = cursor.peek().span;
    let first = infix::value(cursor, atom)?;
    if !cursor.at("|") {
        return Ok(first);
    }
    let mut alternatives = vec![first];
    while cursor.eat("|") {
        alternatives.push(infix::value(cursor, atom)?);
    }
    Ok(ValueAst { kind: ValueAstKind::Alternatives(alternatives), span: cursor.since(start) })
}

/// Parses a value without operators outside of parentheses.
pub(super) fn atom(cursor: &mut Cursor) -> Parsed<ValueAst> {
    let start = cursor.peek().span;
    let mut atom = match cursor.eat("(") {
        true => {
            let inner = cursor.nested(value)?;
            cursor.expect(")")?;
            ValueAst { span: cursor.since(start), ..inner }
        }
        false => {
            let kind = cursor.nested(kind)?;
            ValueAst { kind, span: cursor.since(start) }
        }
    };
    if let ValueAstKind::Literal(expr) = &mut atom.kind {
        expr.span = atom.span;
        *expr = indexed(cursor, expr.clone())?;
        atom.span = cursor.since(start);
    }
    Ok(atom)
}

fn kind(cursor: &mut Cursor) -> Parsed<ValueAstKind> {
    let token = cursor.peek();
    if choice::begins_case(cursor) {
        return choice::case(cursor, value).map(ValueAstKind::Case);
    }
    if cursor.at_word("fold") && cursor.nth(1).kind == TokenKind::Ident {
        return choice::fold(cursor, value).map(|fold| ValueAstKind::Fold(Box::new(fold)));
    }
    if cursor.at("[") {
        return list(cursor);
    }
    if begins_call(cursor, 0) {
        let call = node::call_of::<RuleNodes, _>(cursor, values)?;
        return Ok(ValueAstKind::Call(Box::new(call)));
    }
    if is_constant(cursor, token) {
        return factor(cursor).map(ValueAstKind::Literal);
    }
    match node::operand::<RuleNodes>(cursor)? {
        Some(operand) => Ok(ValueAstKind::Name(operand)),
        None => Err(cursor.expected("a value")),
    }
}

/// Returns true if the token at `ahead` is an opening parenthesis on the line of the token before it.
fn opens(cursor: &Cursor, ahead: usize) -> bool {
    let gap = Span { start: cursor.nth(ahead - 1).span.end, end: cursor.nth(ahead).span.start };
    cursor.nth(ahead).kind == TokenKind::Sign(b'(') && !cursor.source.slice(gap).contains('\n')
}

/// Returns true if the token at `ahead` begins a call of an operator or of a function on values.
fn begins_call(cursor: &Cursor, ahead: usize) -> bool {
    let token = cursor.nth(ahead);
    let next = cursor.nth(ahead + 1);
    let opens = |at| opens(cursor, at);
    match token.kind {
        // `@op (…)`: an operator variable, with or without `in […]`, `@13` and attributes.
        TokenKind::Sign(b'@') => {
            let after = cursor.nth(ahead + 2);
            let chooses = after.kind == TokenKind::Ident
                && cursor.text_of(after) == "in"
                && cursor.nth(ahead + 3).kind != TokenKind::Sign(b'@');
            let has_attributes = after.kind == TokenKind::Sign(b'<')
                && match cursor.nth(ahead + 3).kind {
                    TokenKind::Ident => cursor.nth(ahead + 4).kind == TokenKind::Sign(b'='),
                    TokenKind::Sign(b'@') => {
                        matches!(cursor.nth(ahead + 5).kind, TokenKind::Sign(b'>' | b',' | b'?'))
                    }
                    next => matches!(next, TokenKind::Sign(b'.' | b'>')),
                };
            let has_version =
                after.kind == TokenKind::Sign(b'@') && cursor.nth(ahead + 3).kind == TokenKind::Int;
            chooses || has_attributes || has_version || opens(ahead + 2)
        }
        TokenKind::Ident => match next.kind {
            TokenKind::Sign(b'(') => opens(ahead + 1) && Func::by_name(cursor.text_of(token)).is_none(),
            TokenKind::Sign(b'.') => {
                matches!(cursor.nth(ahead + 2).kind, TokenKind::Ident | TokenKind::Sign(b'['))
            }
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

/// Returns true if a constant begins at `token`.
/// A constant is an attribute, a number, a tensor, a bool, or a call of an expression function.
fn is_constant(cursor: &Cursor, token: Token) -> bool {
    let next = cursor.nth(1).kind;
    match token.kind {
        TokenKind::Sign(b'@' | b'-') => true,
        TokenKind::Ident => {
            let text = cursor.text_of(token);
            let is_tensor = matches!(next, TokenKind::Sign(b'{' | b'[')) && ElemType::from_str(text).is_ok();
            let is_function = opens(cursor, 1);
            is_tensor || is_function || matches!(text, "true" | "false") || number::at_number(cursor)
        }
        _ => number::at_number(cursor) || number::at_int(cursor),
    }
}

/// Parses a list of constants, or a comprehension: `[Relu (x) for x in xs]`, `[dim(x, 0) for x in xs]`.
fn list(cursor: &mut Cursor) -> Parsed<ValueAstKind> {
    let start = cursor.expect("[")?;
    let mut each = None;
    let items = cursor.list("]", |cursor| {
        let item = value(cursor)?;
        if cursor.at_word("for") && each.is_none() {
            each = Some(after_body(cursor, item.clone())?);
        }
        Ok(item)
    })?;
    let span = cursor.since(start);
    let literal = |kind| ValueAstKind::Literal(ExprAst { kind, span });
    match (each, &items[..]) {
        (Some(EachAst { body, attr, over }), [_]) => Ok(match body.kind {
            ValueAstKind::Literal(body) => literal(ExprAstKind::Each(Box::new(EachAst { body, attr, over }))),
            _ => ValueAstKind::Each(Box::new(EachAst { body, attr, over })),
        }),
        (Some(_), _) => Err(cursor.fault(items[0].span, "a comprehension has exactly one item before `for`")),
        (None, _) => {
            let constants = items.iter().map(|item| item.as_expression().ok_or(item.span));
            match constants.collect::<Result<_, Span>>() {
                Ok(constants) => Ok(literal(ExprAstKind::List(constants))),
                Err(span) => {
                    Err(cursor.fault(span, "a list contains constants, or has the form `[… for x in xs]`"))
                }
            }
        }
    }
}

impl CallAst {
    /// Returns true for a call of a function or pattern, whose names begin with no capital letter.
    pub fn is_function(&self) -> bool {
        self.op.var.is_none() && self.op.domain.is_empty() && !begins_operator(&self.op.name.text)
    }
}

impl ValueAst {
    /// Converts a constant, such as a string, an element type or a function of constants, to an expression.
    pub fn as_expression(&self) -> Option<ExprAst> {
        let kind = match &self.kind {
            ValueAstKind::Literal(ast) => return Some(ast.clone()),
            // A call of a function on constants or on facts about values.
            ValueAstKind::Call(call) if call.is_function() && call.attrs.is_empty() => {
                let argument = |input: &ValueAst| match &input.kind {
                    ValueAstKind::Name(operand) if input.as_expression().is_none() => {
                        Some(ExprAst { kind: ExprAstKind::Word(operand.name.clone()), span: input.span })
                    }
                    _ => input.as_expression(),
                };
                let args = call.inputs.iter().map(argument).collect::<Option<_>>()?;
                ExprAstKind::Call { name: call.op.name.clone(), args }
            }
            ValueAstKind::Name(operand) if operand.many == Many::One => {
                let text = &operand.name.text;
                let is_quoted = operand.name.span.end - operand.name.span.start != text.len() as u32;
                match text.parse() {
                    _ if is_quoted => ExprAstKind::Str(text.clone()),
                    Ok(elem) => ExprAstKind::Elem(elem),
                    Err(_) => return None,
                }
            }
            _ => return None,
        };
        Some(ExprAst { kind, span: self.span })
    }

    /// Creates an absent value at this span.
    pub fn absent(span: Span) -> ValueAst {
        let name = Name { text: "".into(), span };
        ValueAst { kind: ValueAstKind::Name(Operand { name, many: Many::One, span }), span }
    }
}
