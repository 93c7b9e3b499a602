//! Examples: a model in ONNX text, and the expected outcome.

use super::RULES;
use super::ast::{BecomesAst, Entry, EntryKind, ExampleAst, ExpectAst};
use crate::graph::syntax::ast::{Model, Name};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::text::{self, Text};
use crate::graph::syntax::{Source, Span, node, number};

/// Parses an example, whose keyword `example` has been read at `keyword`.
///
/// `example "name" [at opset N | from N to M] [for TARGET] { graph } computes | becomes { nodes } |
/// unchanged | finds "…"`; a whole model may replace the graph.
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
        text: None,
        span,
    })
}

type Opset = Option<(i64, Span)>;

/// Parses `at opset N` or `from N to M`.
fn opsets(cursor: &mut Cursor) -> Parsed<(Opset, Opset)> {
    if cursor.eat_word("at") {
        word(cursor, "opset")?;
        return Ok((Some(opset_number(cursor)?), None));
    }
    if cursor.eat_word("from") {
        let opset = opset_number(cursor)?;
        word(cursor, "to")?;
        return Ok((Some(opset), Some(opset_number(cursor)?)));
    }
    Ok((None, None))
}

/// Parses an optional `for NAME`.
fn profile(cursor: &mut Cursor) -> Parsed<Option<Name>> {
    if cursor.eat_word("for") { cursor.ident("a target name").map(Some) } else { Ok(None) }
}

/// Parses a derived example: the previous one with text replaced, and its own expected outcome.
///
/// `but "name" [at opset N | from N to M] with "text" as "text", … unchanged`
pub fn variant(cursor: &mut Cursor, keyword: Span, before: &[Entry]) -> Parsed<ExampleAst> {
    let name = cursor.string("an example name in quotes")?;
    let (opset, target) = opsets(cursor)?;
    let mut changes = Vec::new();
    if cursor.eat_word("with") {
        loop {
            let old = cursor.string("a part of the previous example in quotes")?;
            word(cursor, "as")?;
            changes.push((old, cursor.string("its replacement in quotes")?));
            if !cursor.eat(",") {
                break;
            }
        }
    } else if opset.is_none() {
        return Err(cursor.expected("`with \"…\" as \"…\"` with the changes to the previous example"));
    }
    let expect = expect(cursor)?;
    let span = cursor.since(keyword);
    let base = before.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Example(example) if example.text.is_none() => Some(example),
        _ => None,
    });
    let Some(base) = base else {
        return Err(cursor.fault(keyword, "`but` must follow an example"));
    };
    let source = cursor.source;
    let mut text = source.slice(base.inside).to_owned();
    for (old, new) in &changes {
        if old.text.is_empty() || !text.contains(&*old.text) {
            let finding =
                cursor.finding(old.span, format!("the previous example does not contain `{}`", old.text));
            let finding = finding.related(source.place(base.span), "the previous example is here");
            return Err(cursor.report(finding));
        }
        text = text.replace(&*old.text, &new.text);
    }
    let text = Source::new(&source.file, &text);
    let mut inner = Cursor::new(&text, RULES);
    let is_whole = inner.at("<");
    let model = text::model_in_braces(&mut inner);
    if !inner.is_end() {
        inner.expected("the end of the example");
    }
    let fault = inner.into_findings().into_iter().next();
    match (model, fault) {
        (Ok(Model { header, graph, functions }), None) => Ok(ExampleAst {
            name,
            opset: opset.or(base.opset),
            target: if opset.is_some() { target } else { base.target },
            profile: base.profile.clone(),
            header: is_whole.then_some(header),
            graph,
            functions,
            expect,
            inside: base.inside,
            text: Some(text),
            span,
        }),
        (_, fault) => {
            let why = fault.map_or_else(String::new, |fault| format!(": {}", fault.message));
            Err(cursor
                .fault(span, format!("with these changes, the previous example is not a valid model{why}")))
        }
    }
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
        return Err(cursor.expected("an outcome: `computes`, `becomes { … }`, `unchanged` or `finds \"…\"`"));
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
