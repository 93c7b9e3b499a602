//! Examples: a model in ONNX text, and the expected outcome.

use super::ast::{Entry, EntryKind, ExampleAst, ExpectAst, RewrittenAst};
use super::edits::{Changes, Derived};
use crate::graph::syntax::ast::{Model, Name};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::text::{self, Text};
use crate::graph::syntax::{Span, node, number};

/// Parses an example, whose keyword `example` has been read at `keyword`.
///
/// `example "name" [at opset N | from N to M] [for TARGET] { graph } equivalent | rewrites_to { nodes } |
/// no_match | reports "…"`; a whole model may replace the graph.
pub fn example(cursor: &mut Cursor, keyword: Span) -> Parsed<ExampleAst> {
    let name = cursor.string("an example name in quotes")?;
    let (opset, target) = opsets(cursor)?;
    let profile = profile(cursor)?;
    let open = cursor.expect("{")?;
    let is_whole = cursor.at("<");
    let Model { header, graph, functions } = text::model_in_braces(cursor)?;
    let header = is_whole.then_some(header);
    let close = cursor.expect("}")?;
    let expect = expect(cursor)?;
    let inside = Span { start: open.end, end: close.start };
    let span = cursor.since(keyword);
    Ok(ExampleAst {
        name,
        opset,
        target,
        profile,
        header,
        graph,
        functions,
        expect,
        inside,
        is_derived: false,
        is_retyped: false,
        text: None,
        span,
    })
}

type Opset = Option<(i64, Span)>;

/// Parses `at opset N` or `from N to M`.
fn opsets(cursor: &mut Cursor) -> Parsed<(Opset, Opset)> {
    if cursor.eat_word("at") {
        cursor.expect_word("opset")?;
        return Ok((Some(opset_number(cursor)?), None));
    }
    if cursor.eat_word("from") {
        let opset = opset_number(cursor)?;
        cursor.expect_word("to")?;
        return Ok((Some(opset), Some(opset_number(cursor)?)));
    }
    Ok((None, None))
}

/// Parses an optional `for NAME`.
fn profile(cursor: &mut Cursor) -> Parsed<Option<Name>> {
    if cursor.eat_word("for") { cursor.ident("a target name").map(Some) } else { Ok(None) }
}

/// Parses a derived example: changes of the preceding `example`, and the outcome for the changed model.
///
/// `but "name" [at opset N | from N to M] with "text" as "text", x: double, attr a = 1 of y,
/// without input b of y, … no_match`
pub fn variant(cursor: &mut Cursor, keyword: Span, before: &[Entry]) -> Parsed<ExampleAst> {
    let name = cursor.string("an example name in quotes")?;
    let (opset, target) = opsets(cursor)?;
    let changes = Changes::parse(cursor)?;
    if changes.is_empty() && opset.is_none() {
        return Err(cursor.expected("a change of the previous example: `with \"…\" as \"…\"`, `x: double`"));
    }
    let expect = expect(cursor)?;
    let span = cursor.since(keyword);
    let base = before.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Example(example) if !example.is_derived => Some(example),
        _ => None,
    });
    let Some(base) = base else {
        return Err(cursor.fault(keyword, "`but` must follow an example"));
    };
    let Derived { model, is_whole, text, is_retyped } = changes.apply(base, span, cursor)?;
    let Model { header, graph, functions } = model;
    Ok(ExampleAst {
        name,
        opset: opset.or(base.opset),
        target: if opset.is_some() { target } else { base.target },
        profile: base.profile.clone(),
        header: is_whole.then_some(header),
        graph,
        functions,
        expect,
        inside: base.inside,
        is_derived: true,
        is_retyped,
        text,
        span,
    })
}

fn opset_number(cursor: &mut Cursor) -> Parsed<(i64, Span)> {
    let span = cursor.peek().span;
    Ok((number::int(cursor)?, span))
}

fn expect(cursor: &mut Cursor) -> Parsed<ExpectAst> {
    if cursor.eat_renamed("unchanged", "no_match") {
        return Ok(ExpectAst::NoMatch);
    }
    if cursor.eat_renamed("computes", "equivalent") {
        return Ok(ExpectAst::Equivalent);
    }
    if cursor.eat_renamed("becomes", "rewrites_to") {
        return rewritten(cursor).map(ExpectAst::RewritesTo);
    }
    if !cursor.eat_renamed("finds", "reports") {
        let outcomes = "`equivalent`, `rewrites_to { … }`, `no_match` or `reports \"…\"`";
        return Err(cursor.expected(&format!("an outcome: {outcomes}")));
    }
    if cursor.eat_word("nothing") {
        return Ok(ExpectAst::Reports(Vec::new()));
    }
    let mut messages = vec![message(cursor, "a message in quotes, or `nothing`")?];
    while cursor.eat(",") {
        messages.push(message(cursor, "a message in quotes")?);
    }
    Ok(ExpectAst::Reports(messages))
}

/// Parses a message; adjacent strings are joined, so that a long one can be wrapped.
fn message(cursor: &mut Cursor, what: &str) -> Parsed<Name> {
    let mut message = cursor.string(what)?;
    while cursor.at_quoted() {
        let next = cursor.string(what)?;
        message.text = format!("{}{}", message.text, next.text).into();
        message.span = message.span.to(next.span);
    }
    Ok(message)
}

fn rewritten(cursor: &mut Cursor) -> Parsed<RewrittenAst> {
    let values = if cursor.eat("<") { Some(cursor.list(">", text::declared)?) } else { None };
    let named = matches!(cursor.nth(1).kind, TokenKind::Ident | TokenKind::Quoted);
    if values.is_none() && named && cursor.nth(2).kind == TokenKind::Sign(b'(') {
        cursor.expect("{")?;
        let graph = text::graph(cursor)?;
        cursor.expect("}")?;
        return Ok(RewrittenAst::Graph(graph));
    }
    Ok(RewrittenAst::Nodes { values, nodes: node::nodes::<Text>(cursor)? })
}
