//! The grammar of rule files. Reading goes on after a fault.

pub mod ast;
mod example;
mod expr;
mod template;

use ast::{Entry, EntryKind, RuleAst, Statement};
use expr::{RuleNodes, expr};

use crate::diag::Finding;
use crate::diag::known;
use crate::graph::syntax::ast::{Many, Name};
use crate::graph::syntax::cursor::{Cursor, Language, Parsed, Reported};
use crate::graph::syntax::lexer::{Strings, TokenKind};
use crate::graph::syntax::suggest::with_suggestion;
use crate::graph::syntax::{Source, Span, node};

/// Faults of rule files.
pub const RULES: Language = Language { rule: known::BAD_RULE, strings: Strings::OneLine };

/// The words that begin an entry of a rule.
const KEYWORDS: [&str; 12] = [
    "severity", "phase", "safety", "mends", "message", "help", "match", "where", "let", "rewrite", "detect",
    "example",
];

fn not_closed(cursor: &mut Cursor, rule: &Name, opened: Span) -> Reported {
    let place = cursor.source.place(opened);
    let finding = cursor.finding(cursor.peek().span, format!("rule `{}` is not closed here", rule.text));
    cursor.report(finding.related(place, "it is opened here").help("every `{` needs its `}`"))
}

fn unknown_keyword(cursor: &mut Cursor, word: &Name) -> Reported {
    let message = format!("`{}` is no entry of a rule", word.text);
    let message = with_suggestion(message, &word.text, KEYWORDS);
    let finding = cursor.finding(word.span, message);
    cursor.report(finding.help(format!("the entries of a rule are {}", KEYWORDS.join(", "))))
}

/// Reads the rules of a file. Those with a fault are left out where nothing can be made of them.
pub fn parse(source: &Source) -> (Vec<RuleAst>, Vec<Finding>) {
    let mut cursor = Cursor::new(source, RULES);
    let mut rules = Vec::new();
    while !cursor.is_end() {
        let start = cursor.position();
        match rule(&mut cursor) {
            Ok(rule) => rules.push(rule),
            Err(Reported) => skip_to_rule(&mut cursor, start),
        }
    }
    (rules, cursor.into_findings())
}

fn at_rule(cursor: &Cursor) -> bool {
    cursor.at_word("rule") && cursor.begins_line()
}

fn skip_to_rule(cursor: &mut Cursor, start: usize) {
    while !cursor.is_end() && (cursor.position() == start || !at_rule(cursor)) {
        cursor.bump();
    }
}

fn rule(cursor: &mut Cursor) -> Parsed<RuleAst> {
    let start = cursor.peek().span;
    if !cursor.eat_word("rule") {
        return Err(cursor.expected("`rule CODE name { … }`"));
    }
    let (docs, docs_start) = docs_above(&cursor.source.text, start.start as usize);
    let code = cursor.ident("the code of the rule, such as OPT101")?;
    let name = kebab_name(cursor)?;
    let opened = cursor.expect("{")?;
    let faults = cursor.faults();
    let mut entries = Vec::new();
    while !cursor.eat("}") {
        if cursor.is_end() || at_rule(cursor) {
            not_closed(cursor, &code, opened);
            break;
        }
        let start = cursor.position();
        match entry(cursor) {
            Ok(entry) => entries.push(entry),
            Err(Reported) => cursor.recover(start, at_keyword),
        }
    }
    let span = Span { start: Span::new(docs_start, docs_start).start, ..cursor.since(start) };
    Ok(RuleAst { docs, code, name, entries, span, is_whole: cursor.faults() == faults })
}

fn at_keyword(cursor: &Cursor) -> bool {
    cursor.begins_line() && KEYWORDS.iter().any(|word| cursor.at_word(word))
}

/// `double-transpose`: words that touch the minus between them.
fn kebab_name(cursor: &mut Cursor) -> Parsed<Name> {
    let first = cursor.ident("the name of the rule, such as double-transpose")?;
    let mut end = first.span;
    while cursor.at("-") && cursor.peek().span.start == end.end && cursor.nth(1).span.start == end.end + 1 {
        cursor.bump();
        end = match cursor.peek().kind {
            TokenKind::Ident | TokenKind::Int => cursor.bump().span,
            _ => return Err(cursor.expected("the next word of the name")),
        };
    }
    let span = first.span.to(end);
    Ok(Name { text: cursor.source.slice(span).into(), span })
}

/// The `##` lines that stand directly above `start`, and where the first of them begins.
fn docs_above(text: &str, start: usize) -> (String, usize) {
    let mut lines = Vec::new();
    let mut first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    while let Some(above) = text[..first].strip_suffix('\n') {
        let begin = above.rfind('\n').map_or(0, |newline| newline + 1);
        let Some(doc) = above[begin..].trim().strip_prefix("##") else { break };
        lines.push(doc.strip_prefix(' ').unwrap_or(doc));
        first = begin;
    }
    lines.reverse();
    let has_docs = !lines.is_empty();
    (lines.join("\n"), if has_docs { first } else { start })
}

fn entry(cursor: &mut Cursor) -> Parsed<Entry> {
    let keyword = cursor.ident("an entry of a rule, or `}` after the last one")?;
    let kind = match &*keyword.text {
        "severity" => EntryKind::Severity(cursor.ident("hint, info, warning or error")?),
        "phase" => EntryKind::Phase(cursor.ident("simplify, explore, convert or fix")?),
        "safety" => EntryKind::Safety(cursor.ident("exact, rounding or unsafe")?),
        "mends" => EntryKind::Mends(cursor.ident("the code of the rule whose finding it mends")?),
        "message" => EntryKind::Message(template::template(cursor)?),
        "help" => EntryKind::Help(template::template(cursor)?),
        "match" => EntryKind::Match(block(cursor, statement)?),
        "where" => EntryKind::Where(block(cursor, expr)?),
        "let" => {
            cursor.expect("@")?;
            let var = cursor.ident("the name of an attribute variable")?;
            cursor.expect("=")?;
            EntryKind::Let { var, expr: expr(cursor)? }
        }
        "rewrite" => {
            let both = cursor.eat_word("both");
            EntryKind::Rewrite { both, statements: block(cursor, statement)? }
        }
        "detect" => {
            if !(cursor.eat_word("builtin") && cursor.eat("::")) {
                return Err(cursor.expected("`builtin::NAME`"));
            }
            EntryKind::Detect(cursor.ident("the name of a builtin analysis")?)
        }
        "example" => EntryKind::Example(Box::new(example::example(cursor, keyword.span)?)),
        _ => return Err(unknown_keyword(cursor, &keyword)),
    };
    let span = cursor.since(keyword.span);
    Ok(Entry { keyword, kind, span })
}

/// `{ item item … }`; an item with a fault is left out.
fn block<T>(cursor: &mut Cursor, item: impl Fn(&mut Cursor) -> Parsed<T>) -> Parsed<Vec<T>> {
    cursor.expect("{")?;
    let mut items = Vec::new();
    while !cursor.eat("}") {
        if cursor.is_end() || at_rule(cursor) || at_keyword(cursor) {
            return Err(cursor.expected("`}`"));
        }
        let start = cursor.position();
        match item(cursor) {
            Ok(item) => items.push(item),
            Err(Reported) => cursor.recover(start, at_rule),
        }
    }
    Ok(items)
}

/// A node, or `y = x`.
fn statement(cursor: &mut Cursor) -> Parsed<Statement> {
    let start = cursor.peek().span;
    let outputs = node::operands::<RuleNodes>(cursor)?;
    if outputs.is_empty() {
        return Err(cursor.expected("a node: `y = Op (x)`"));
    }
    cursor.expect("=")?;
    let is_name = matches!(cursor.peek().kind, TokenKind::Ident | TokenKind::Quoted);
    let is_call = matches!(cursor.nth(1).kind, TokenKind::Sign(b'(' | b'<' | b'@' | b'.' | b':'));
    if is_name && !is_call {
        let source = cursor.name("a value")?;
        let span = cursor.since(start);
        return match <[_; 1]>::try_from(outputs) {
            Ok([target]) if target.many == Many::One => Ok(Statement::Alias { target, source, span }),
            _ => Err(cursor.fault(span, "one value can be equal to one value: `y = x`")),
        };
    }
    let call = node::call::<RuleNodes>(cursor)?;
    let span = cursor.since(start);
    Ok(Statement::Node(crate::graph::syntax::ast::Node { name: None, outputs, call, span }))
}
