//! Grammar of a node, shared by ONNX text and rules.

use std::sync::Arc;

use crate::graph::AttrKind;

use super::ast::{Attr, Call, Many, Name, Node, Op, OpVar, Operand, Rest};
use super::cursor::{Cursor, Parsed};
use super::lexer::TokenKind;
use super::number;
use super::span::Span;

/// A language with node syntax.
pub trait Dialect {
    /// Syntax of attribute values.
    type Value;

    /// Whether rule-only syntax is allowed: `Op@13`, `@op`, `b?`, `xs...`, `..@rest`.
    const RULES: bool;

    fn value(cursor: &mut Cursor, kind: Option<AttrKind>) -> Parsed<Self::Value>;
}

/// Parses `{ nodes }`; reports and skips nodes with errors.
pub fn nodes<D: Dialect>(cursor: &mut Cursor) -> Parsed<Vec<Node<D::Value>>> {
    cursor.expect("{")?;
    let mut nodes = Vec::new();
    loop {
        if cursor.eat("}") {
            return Ok(nodes);
        }
        if cursor.is_end() {
            return Err(cursor.expected("a node, or `}` after the last one"));
        }
        let start = cursor.position();
        match node::<D>(cursor) {
            Ok(node) => nodes.push(node),
            Err(_) => cursor.recover(start, |_| false),
        }
    }
}

/// Parses `[name] a, b = Op <axis = 1> (x, y)`.
pub fn node<D: Dialect>(cursor: &mut Cursor) -> Parsed<Node<D::Value>> {
    let start = cursor.peek().span;
    let name = if cursor.eat("[") {
        let name = cursor.name("the name of the node")?;
        cursor.expect("]")?;
        Some(name)
    } else {
        None
    };
    let outputs = operands::<D>(cursor)?;
    cursor.expect("=")?;
    let call = call::<D>(cursor)?;
    Ok(Node { name, outputs, call, span: cursor.since(start) })
}

/// Parses `com.microsoft.Op@1:overload <axis = 1> (x, y)`; the attributes may come last instead.
pub fn call<D: Dialect>(cursor: &mut Cursor) -> Parsed<Call<D::Value>> {
    call_of::<D, _>(cursor, operands::<D>)
}

/// Parses a call whose inputs are parsed by `inputs`.
pub fn call_of<D: Dialect, I>(
    cursor: &mut Cursor,
    inputs: impl FnOnce(&mut Cursor) -> Parsed<Vec<I>>,
) -> Parsed<Call<D::Value, I>> {
    let op = match D::RULES && cursor.at("@") {
        true => op_var::<D>(cursor)?,
        false => op::<D>(cursor)?,
    };
    let mut attrs = Vec::new();
    let mut rest = None;
    if cursor.eat("<") {
        (attrs, rest) = attributes::<D>(cursor)?;
    }
    cursor.expect("(")?;
    let inputs = inputs(cursor)?;
    cursor.expect(")")?;
    if attrs.is_empty() && rest.is_none() && begins_attributes::<D>(cursor) && cursor.eat("<") {
        (attrs, rest) = attributes::<D>(cursor)?;
    }
    let span = cursor.since(op.span);
    Ok(Call { op, attrs, rest, inputs, span })
}

/// Returns true if `<` begins attributes; in rules, it may also compare two values.
fn begins_attributes<D: Dialect>(cursor: &Cursor) -> bool {
    let is_named = || {
        cursor.nth(1).kind == TokenKind::Ident && matches!(cursor.nth(2).kind, TokenKind::Sign(b'=' | b':'))
    };
    !D::RULES || is_named() || cursor.nth(1).kind == TokenKind::Sign(b'.')
}

/// Domain whose operator names contain a dot: `aten.add.Tensor` is `add.Tensor` of the domain `aten`.
const OVERLOADED: &str = "aten.";

/// Parses `com.microsoft.Op@1:overload`.
pub fn op<D: Dialect>(cursor: &mut Cursor) -> Parsed<Op> {
    let mut path = vec![cursor.ident("an operator")?];
    let start = path[0].span;
    while cursor.eat(".") {
        if D::RULES && cursor.at("[") {
            return anonymous_group::<D>(cursor, &path, start);
        }
        path.push(cursor.ident("an operator")?);
    }
    let name = path.pop().expect("it has at least one name");
    let domain = path.iter().map(|part| &*part.text).collect::<Vec<_>>().join(".");
    op_named::<D>(cursor, domain, name, start)
}

/// Parses the bracketed list of `aten.[add.Tensor, mul.Tensor]`, which stands for `@op in aten.[…]`.
fn anonymous_group<D: Dialect>(cursor: &mut Cursor, path: &[Name], start: Span) -> Parsed<Op> {
    let mut ops = Vec::new();
    op_group::<D>(cursor, path, &mut ops)?;
    let span = cursor.since(start);
    let name = Name { text: Arc::from("op"), span };
    let var = Some(Box::new(OpVar { name: name.clone(), among: Some(ops) }));
    Ok(Op { domain: Arc::from(""), name, epoch: None, overload: None, var, span })
}

/// Parses the operators of a group into `ops`: `relu`, `add.Tensor`, `add.[Tensor, Scalar]`.
/// `path` contains the names before the group.
fn op_group<D: Dialect>(cursor: &mut Cursor, path: &[Name], ops: &mut Vec<Op>) -> Parsed<()> {
    if cursor.at("[") {
        cursor.bump();
        return cursor.list("]", |cursor| op_group::<D>(cursor, path, ops)).map(|_| ());
    }
    let name = cursor.ident("an operator")?;
    if cursor.eat(".") {
        return op_group::<D>(cursor, &[path, &[name]].concat(), ops);
    }
    let domain = path.iter().map(|part| &*part.text).collect::<Vec<_>>().join(".");
    let start = name.span;
    ops.push(op_named::<D>(cursor, domain, name, start)?);
    Ok(())
}

/// Parses the version and overload of an operator after its name.
fn op_named<D: Dialect>(cursor: &mut Cursor, mut domain: String, mut name: Name, start: Span) -> Parsed<Op> {
    if let Some(base) = domain.strip_prefix(OVERLOADED) {
        name.text = Arc::from(format!("{base}.{}", name.text));
        domain.truncate(OVERLOADED.len() - 1);
    }
    let epoch = epoch::<D>(cursor)?;
    let overload = if cursor.eat(":") { Some(cursor.name("an overload")?) } else { None };
    Ok(Op { domain: Arc::from(domain), name, epoch, overload, var: None, span: cursor.since(start) })
}

/// Parses `@op in [Add, Sub@14]`, `@op in aten.[add.Tensor, mul.[Tensor, Scalar]]`, `@op` or `@op@1`.
fn op_var<D: Dialect>(cursor: &mut Cursor) -> Parsed<Op> {
    let start = cursor.expect("@")?;
    let name = cursor.ident("the name of an operator variable")?;
    let epoch = epoch::<D>(cursor)?;
    let mut among = None;
    if cursor.eat_word("in") {
        let mut ops = Vec::new();
        op_group::<D>(cursor, &[], &mut ops)?;
        among = Some(ops);
    }
    let var = Some(Box::new(OpVar { name: name.clone(), among }));
    Ok(Op { domain: Arc::from(""), name, epoch, overload: None, var, span: cursor.since(start) })
}

/// Parses `@13`.
fn epoch<D: Dialect>(cursor: &mut Cursor) -> Parsed<Option<(i64, Span)>> {
    if !(D::RULES && cursor.eat("@")) {
        return Ok(None);
    }
    let at = cursor.peek().span;
    Ok(Some((number::int(cursor)?, at)))
}

/// Parses comma-separated operands.
/// As in onnx's parser, an empty position before a comma is an absent operand, and a trailing comma is
/// ignored.
pub fn operands<D: Dialect>(cursor: &mut Cursor) -> Parsed<Vec<Operand>> {
    let mut operands = Vec::new();
    while let Some(operand) = operand::<D>(cursor)? {
        operands.push(operand);
        if !cursor.eat(",") {
            break;
        }
    }
    Ok(operands)
}

/// Parses a name, or an empty position before a comma; `None` before any other token.
pub fn operand<D: Dialect>(cursor: &mut Cursor) -> Parsed<Option<Operand>> {
    let token = cursor.peek();
    let name = match token.kind {
        TokenKind::Ident | TokenKind::Quoted => cursor.name("a value")?,
        TokenKind::Sign(b',') => {
            let span = Span { start: token.span.start, end: token.span.start };
            Name { text: Arc::from(""), span }
        }
        _ => return Ok(None),
    };
    let many = match D::RULES {
        true if cursor.eat("...") => Many::Any,
        true if cursor.eat("?") => Many::Optional,
        _ => Many::One,
    };
    let span = cursor.since(name.span);
    Ok(Some(Operand { name, many, span }))
}

type Attributes<V> = (Vec<Attr<V>>, Option<Rest>);

fn attributes<D: Dialect>(cursor: &mut Cursor) -> Parsed<Attributes<D::Value>> {
    let mut rest = None;
    let listed = cursor.list(">", |cursor| {
        if D::RULES && cursor.at("..") {
            let start = cursor.expect("..")?;
            let keep = if cursor.eat("@") { Some(cursor.ident("a name")?) } else { None };
            rest = Some(Rest { keep, span: cursor.since(start) });
            return Ok(None);
        }
        if D::RULES && cursor.at("@") {
            return own_attribute::<D>(cursor).map(Some);
        }
        attribute::<D>(cursor).map(Some)
    })?;
    Ok((listed.into_iter().flatten().collect(), rest))
}

/// Parses `@axis`, which stands for `axis = @axis`.
fn own_attribute<D: Dialect>(cursor: &mut Cursor) -> Parsed<Attr<D::Value>> {
    let token = cursor.nth(1);
    let name = Name { text: Arc::from(cursor.text_of(token)), span: token.span };
    let start = cursor.peek().span;
    let value = D::value(cursor, None)?;
    Ok(Attr { name, kind: None, value, span: cursor.since(start) })
}

fn attribute<D: Dialect>(cursor: &mut Cursor) -> Parsed<Attr<D::Value>> {
    let name = cursor.ident("the name of an attribute")?;
    attribute_after_name::<D>(cursor, name)
}

/// Parses `: int = 1` or `= 1`.
pub fn attribute_after_name<D: Dialect>(cursor: &mut Cursor, name: Name) -> Parsed<Attr<D::Value>> {
    let kind = if cursor.eat(":") { Some(kind(cursor)?) } else { None };
    cursor.expect("=")?;
    let value = D::value(cursor, kind)?;
    let span = cursor.since(name.span);
    Ok(Attr { name, kind, value, span })
}

fn kind(cursor: &mut Cursor) -> Parsed<AttrKind> {
    let word = cursor.ident("the kind of the attribute")?;
    let found = AttrKind::ALL.into_iter().find(|kind| kind.name() == &*word.text);
    found.ok_or_else(|| cursor.fault(word.span, format!("`{}` is not an attribute kind", word.text)))
}
