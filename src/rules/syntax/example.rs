//! Examples: a model in ONNX text, and what the rule makes of it.

use super::ast::{BecomesAst, ExampleAst, ExpectAst};
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Model;
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::text::{self, Text};
use crate::graph::syntax::{node, number};

/// `example "name" [at opset N | from N to M] { graph } computes | becomes { nodes } | unchanged | finds "…"`; in
/// the place of the graph, a whole model.
///
/// `keyword` is the place of the word `example`, which has been read.
pub fn example(cursor: &mut Cursor, keyword: Span) -> Parsed<ExampleAst> {
    let name = cursor.string("the name of the example in quotes")?;
    let (mut opset, mut target) = (None, None);
    if cursor.eat_word("at") {
        word(cursor, "opset")?;
        opset = Some(opset_number(cursor)?);
    } else if cursor.eat_word("from") {
        opset = Some(opset_number(cursor)?);
        word(cursor, "to")?;
        target = Some(opset_number(cursor)?);
    }
    cursor.expect("{")?;
    let is_whole = cursor.at("<");
    let Model { header, graph, functions } = text::model_in_braces(cursor)?;
    let header = is_whole.then_some(header);
    cursor.expect("}")?;
    let expect = expect(cursor)?;
    let span = cursor.since(keyword);
    Ok(ExampleAst { name, opset, target, header, graph, functions, expect, span })
}

fn word(cursor: &mut Cursor, word: &str) -> Parsed<()> {
    if cursor.eat_word(word) { Ok(()) } else { Err(cursor.expected(&format!("`{word}`"))) }
}

fn opset_number(cursor: &mut Cursor) -> Parsed<(i64, Span)> {
    let span = cursor.peek().span;
    Ok((number::int(cursor)?, span))
}

fn expect(cursor: &mut Cursor) -> Parsed<ExpectAst> {
    if cursor.eat_word("unchanged") {
        return Ok(ExpectAst::Unchanged);
    }
    if cursor.eat_word("computes") {
        return Ok(ExpectAst::Computes);
    }
    if cursor.eat_word("becomes") {
        return becomes(cursor).map(ExpectAst::Becomes);
    }
    if !cursor.eat_word("finds") {
        return Err(cursor.expected(
            "what becomes of the example: `computes`, `becomes { … }`, `unchanged` or `finds \"…\"`",
        ));
    }
    if cursor.eat_word("nothing") {
        return Ok(ExpectAst::Finds(Vec::new()));
    }
    let mut messages = vec![cursor.string("a message in quotes, or `nothing`")?];
    while cursor.eat(",") {
        messages.push(cursor.string("a message in quotes")?);
    }
    Ok(ExpectAst::Finds(messages))
}

fn becomes(cursor: &mut Cursor) -> Parsed<BecomesAst> {
    let values = if cursor.eat("<") { Some(cursor.list(">", text::declared)?) } else { None };
    let named = matches!(cursor.nth(1).kind, TokenKind::Ident | TokenKind::Quoted);
    if values.is_none() && named && cursor.nth(2).kind == TokenKind::Sign(b'(') {
        cursor.expect("{")?;
        let graph = text::graph(cursor)?;
        cursor.expect("}")?;
        return Ok(BecomesAst::Graph(graph));
    }
    Ok(BecomesAst::Nodes { values, nodes: node::nodes::<Text>(cursor)? })
}
