//! Parser of whole rule files: `language 3`, `defaults { … }`, functions, patterns and rules.

use super::ast::{Entry, EntryKind, FileAst, FnAst, ParamAst, Statement, ValueAst};
use super::value::{statement, value, without_alternatives};
use super::{RULES, entry, expr::RuleNodes, rule, unknown_keyword};
use crate::diag::{Finding, Level};
use crate::graph::syntax::cursor::{Cursor, Parsed};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::suggest::with_suggestion;
use crate::graph::syntax::{Source, Span, node, number};
use crate::rules::outline::{ITEMS, KEYWORDS};

/// Version of the rule language that this program supports.
pub const EDITION: i64 = 3;

/// Previous version, whose words are still accepted.
pub const PREVIOUS: i64 = 2;

/// Entries that a file may set for all of its rules.
const DEFAULTS: [&str; 6] = ["status", "severity", "phase", "safety", "at", "since"];

/// Parses a rule file. Drops items with faults from which the parser cannot recover.
pub fn parse(source: &Source) -> (FileAst, Vec<Finding>) {
    let mut cursor = Cursor::new(source, RULES);
    let mut file = FileAst { is_whole: true, ..FileAst::default() };
    cursor.accept_old_words(true);
    if at_item(&cursor) && !cursor.at_word("language") {
        let finding = without_language(&cursor);
        cursor.report(finding);
    }
    while !cursor.is_end() {
        let start = cursor.position();
        let is_shared = !cursor.at_word("rule");
        if item(&mut cursor, &mut file).is_err() {
            file.is_whole &= !is_shared;
            skip_to_item(&mut cursor, start);
        }
    }
    let at = file.defaults.iter().find_map(|entry| match entry.kind {
        EntryKind::At(opset, _) => Some(opset),
        _ => None,
    });
    file.functions.iter_mut().for_each(|function| function.at = at);
    file.old_words = cursor.old_words().to_vec();
    (file, cursor.into_findings())
}

/// Reports a file that does not declare its language version.
/// Later versions of this program need the declaration to interpret the file.
fn without_language(cursor: &Cursor) -> Finding {
    let message = "the file does not declare its language version";
    let finding = cursor.finding(cursor.peek().span, message);
    let finding = finding.help(format!("add `language {EDITION}` as the first line"));
    Finding { level: Level::Warning, ..finding }
}

/// Reports a file that declares the previous version of the rule language.
fn of_previous(cursor: &Cursor, span: Span) -> Finding {
    let message = format!("rule language {PREVIOUS} is deprecated: language {EDITION} renames some words");
    let finding = cursor.finding(span, message);
    let finding = finding.help("run `onnx-lint --upgrade-rules DIR` on the folder of this file");
    Finding { level: Level::Warning, ..finding }
}

/// Returns true if an item of a file begins here.
pub fn at_item(cursor: &Cursor) -> bool {
    let follows = |kind: TokenKind| cursor.nth(1).kind == kind;
    let is_one = ITEMS.iter().any(|word| cursor.at_word(word))
        && (follows(TokenKind::Ident) || follows(TokenKind::Int) || follows(TokenKind::Sign(b'{')));
    is_one && cursor.begins_line()
}

fn skip_to_item(cursor: &mut Cursor, start: usize) {
    while !cursor.is_end() && (cursor.position() == start || !at_item(cursor)) {
        cursor.bump();
    }
}

fn item(cursor: &mut Cursor, file: &mut FileAst) -> Parsed<()> {
    if cursor.at_word("language") {
        let definitions = file.functions.len() + file.patterns.len();
        let is_first = file.language.is_none() && file.rules.is_empty() && definitions == 0;
        return language(cursor, is_first).map(|said| file.language = Some(said));
    }
    if cursor.at_word("defaults") {
        return defaults(cursor).map(|entries| file.defaults.extend(entries));
    }
    if cursor.at_word("fn") {
        return function(cursor).map(|function| file.functions.push(function));
    }
    if cursor.at_word("pattern") {
        return function(cursor).map(|pattern| file.patterns.push(pattern));
    }
    rule(cursor).map(|rule| file.rules.push(rule))
}

/// Parses `language 3`. Files that declare the previous version, or no version, may use old words.
fn language(cursor: &mut Cursor, is_first: bool) -> Parsed<(i64, Span)> {
    let start = cursor.bump().span;
    let edition = number::int(cursor)?;
    let span = cursor.since(start);
    if ![EDITION, PREVIOUS].contains(&edition) {
        let finding = cursor.finding(span, format!("rule language {edition} is not supported"));
        return Err(cursor.report(finding.help(format!("use a rule file of `language {EDITION}`"))));
    }
    if !is_first {
        return Err(cursor.fault(span, "`language` must be the first line of the file"));
    }
    cursor.accept_old_words(edition == PREVIOUS);
    if edition == PREVIOUS {
        let finding = of_previous(cursor, span);
        cursor.report(finding);
    }
    Ok((edition, span))
}

fn defaults(cursor: &mut Cursor) -> Parsed<Vec<Entry>> {
    cursor.bump();
    cursor.expect("{")?;
    let mut entries = Vec::new();
    while !cursor.eat("}") {
        let word = cursor.ident("an entry for all rules of the file, or `}`")?;
        if !KEYWORDS.contains(&&*word.text) {
            return Err(unknown_keyword(cursor, &word));
        }
        if !DEFAULTS.contains(&&*word.text) {
            let message = format!("`{}` is not allowed in `defaults`", word.text);
            let message = with_suggestion(message, &word.text, DEFAULTS);
            let finding = cursor.finding(word.span, message);
            return Err(cursor.report(finding.help(format!("use one of {}", DEFAULTS.join(", ")))));
        }
        entries.push(entry(cursor, word, &[])?);
    }
    Ok(entries)
}

/// Parses a function or a pattern.
///
/// `fn name(x, @a) = value` or `fn name(x, @a) { statement … value }`, and the same with `pattern`.
fn function(cursor: &mut Cursor) -> Parsed<FnAst> {
    let is_pattern = cursor.at_word("pattern");
    let start = cursor.bump().span;
    let name = cursor.ident("the name of the definition")?;
    cursor.expect("(")?;
    let params = cursor.list(")", |cursor| {
        if cursor.eat("@") {
            return cursor.ident("an attribute name").map(ParamAst::Attr);
        }
        match node::operand::<RuleNodes>(cursor)? {
            Some(operand) if !operand.name.text.is_empty() => Ok(ParamAst::Value(operand)),
            _ => Err(cursor.expected("a value or an `@attribute`")),
        }
    })?;
    let (statements, result) = if cursor.eat("=") { (Vec::new(), value(cursor)?) } else { body(cursor)? };
    if !is_pattern {
        let sources = statements.iter().filter_map(|statement| match statement {
            Statement::Make { source, .. } => Some(source),
            Statement::Let { .. } => None,
        });
        sources.chain([&result]).try_for_each(|value| without_alternatives(cursor, value))?;
    }
    Ok(FnAst { name, params, statements, result, at: None, span: cursor.since(start) })
}

/// Parses statements, and the result at the end.
fn body(cursor: &mut Cursor) -> Parsed<(Vec<Statement>, ValueAst)> {
    cursor.expect("{")?;
    let mut statements = Vec::new();
    loop {
        if cursor.is_end() || at_item(cursor) {
            return Err(cursor.expected("the result and `}`"));
        }
        if begins_statement(cursor) {
            statements.push(statement(cursor)?);
            continue;
        }
        let result = value(cursor)?;
        cursor.expect("}")?;
        return Ok((statements, result));
    }
}

/// Returns true for `let @…`, or for names separated by commas and followed by `=`.
pub fn begins_statement(cursor: &Cursor) -> bool {
    if cursor.at_word("let") {
        return true;
    }
    // `fold a = x for …` is a value.
    if cursor.at_word("fold") && cursor.nth(1).kind == TokenKind::Ident {
        return false;
    }
    let mut ahead = 0;
    while matches!(
        cursor.nth(ahead).kind,
        TokenKind::Ident | TokenKind::Quoted | TokenKind::Sign(b',' | b'?' | b'.')
    ) {
        ahead += 1;
    }
    ahead > 0 && cursor.nth(ahead).kind == TokenKind::Sign(b'=')
}
