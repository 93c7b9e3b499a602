//! Parser of rule files, with recovery from faults.

pub mod ast;
mod choice;
mod edits;
mod example;
mod expr;
mod file;
mod infix;
mod template;
mod upgrade;
mod value;
mod walk;

use ast::{AlsoAst, AssumeAst, ConditionAst, Entry, EntryKind, RuleAst, Statement};
pub use expr::RuleNodes;
use expr::expr;
pub use infix::CAST;
pub use value::begins_operator;

use crate::diag::rule_ids;
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::cursor::{Cursor, Language, Parsed, Reported};
use crate::graph::syntax::lexer::{Strings, TokenKind};
use crate::graph::syntax::suggest::with_suggestion;
use crate::graph::syntax::{Span, number};

pub use file::{EDITION, parse};
pub use upgrade::{Upgrade, upgrade};

use super::outline::{KEYWORDS, OLD_KEYWORDS, docs_above, is_keyword};

/// Settings of the tokenizer and the error reports for rule files.
pub const RULES: Language = Language { rule: rule_ids::BAD_RULE, strings: Strings::OneLine };

fn not_closed(cursor: &mut Cursor, rule: &Name, opened: Span) -> Reported {
    let place = cursor.source.place(opened);
    let finding = cursor.finding(cursor.peek().span, format!("rule `{}` is not closed here", rule.text));
    cursor.report(finding.related(place, "it is opened here").help("add the missing `}`"))
}

fn unknown_keyword(cursor: &mut Cursor, word: &Name) -> Reported {
    let message = format!("`{}` is not an entry of a rule", word.text);
    let message = with_suggestion(message, &word.text, KEYWORDS);
    let finding = cursor.finding(word.span, message);
    cursor.report(finding.help(format!("use one of {}", KEYWORDS.join(", "))))
}

fn rule(cursor: &mut Cursor) -> Parsed<RuleAst> {
    let start = cursor.peek().span;
    if !cursor.eat_word("rule") {
        return Err(cursor.expected("`rule CODE name { … }`"));
    }
    let (docs, docs_len) = docs_above(&cursor.source.text[..start.start as usize]);
    let code = cursor.ident("a rule code, such as OPT101")?;
    let name = kebab_name(cursor)?;
    let opened = cursor.expect("{")?;
    let faults = cursor.faults();
    let mut entries = Vec::new();
    while !cursor.eat("}") {
        if cursor.is_end() || file::at_item(cursor) {
            not_closed(cursor, &code, opened);
            break;
        }
        let start = cursor.position();
        let word = cursor.ident("an entry of a rule, or `}` after the last one");
        match word.and_then(|word| entry(cursor, word, &entries)) {
            Ok(entry) => entries.push(entry),
            Err(Reported) => cursor.recover(start, at_keyword),
        }
    }
    let span = Span { start: start.start - docs_len as u32, ..cursor.since(start) };
    Ok(RuleAst { docs: docs.join("\n"), code, name, entries, span, is_whole: cursor.faults() == faults })
}

fn at_keyword(cursor: &Cursor) -> bool {
    let is_value = matches!(cursor.nth(1).kind, TokenKind::Sign(b'=' | b',' | b'.' | b'?'));
    cursor.begins_line() && !is_value && cursor.at_ident() && is_keyword(cursor.text_of(cursor.peek()))
}

/// Parses `double-transpose`: words joined by adjacent hyphens.
fn kebab_name(cursor: &mut Cursor) -> Parsed<Name> {
    let first = cursor.ident("a rule name, such as double-transpose")?;
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

/// Parses the entry that begins with `keyword`, which has been read; `before` has the previous entries.
fn entry(cursor: &mut Cursor, mut keyword: Name, before: &[Entry]) -> Parsed<Entry> {
    if let Some((_, new)) = OLD_KEYWORDS.iter().find(|(old, _)| *old == &*keyword.text) {
        cursor.note_old_word(keyword.span, new);
        keyword.text = (*new).into();
    }
    let kind = match &*keyword.text {
        "status" => {
            let word = cursor.ident("preview, stable or deprecated")?;
            let has_successor = &*word.text == "deprecated" && cursor.eat_word("by");
            let successor = if has_successor {
                Some(cursor.ident("the code of the rule that replaces this rule")?)
            } else {
                None
            };
            EntryKind::Status(word, successor)
        }
        "severity" => EntryKind::Severity(cursor.ident("hint, info, warning or error")?),
        "phase" => EntryKind::Phase(cursor.ident("simplify, explore, convert, fix, lower or prove")?),
        "safety" => EntryKind::Safety(cursor.ident("exact, rounding or unsafe")?),
        "at" => {
            let span = cursor.peek().span;
            EntryKind::At(number::int(cursor)?, span)
        }
        "since" => {
            let span = cursor.peek().span;
            EntryKind::Since(number::int(cursor)?, span)
        }
        "fixes" => EntryKind::Fixes(cursor.ident("the code of the rule whose findings it fixes")?),
        "message" => EntryKind::Message(template::template(cursor)?),
        "help" => EntryKind::Help(template::template(cursor)?),
        "match" => EntryKind::Match(block(cursor, value::statement)?),
        "where" => EntryKind::Where(block(cursor, condition)?),
        "let" => {
            let (var, expr) = value::binding(cursor)?;
            EntryKind::Let { var, expr }
        }
        "assume" => EntryKind::Assume(assume(cursor)?),
        "rewrite" => {
            let both = cursor.eat_word("both");
            let statements = match cursor.at("{") || file::begins_statement(cursor) {
                true => block(cursor, value::made)?,
                false => vec![replacement(cursor, before)?],
            };
            EntryKind::Rewrite { both, statements }
        }
        "detect" => {
            if !(cursor.eat_word("builtin") && cursor.eat("::")) {
                return Err(cursor.expected("`builtin::NAME`"));
            }
            EntryKind::Detect(cursor.ident("the name of a built-in analysis")?)
        }
        "also" => {
            let code = cursor.ident("the code of another rule, such as OPT102")?;
            let name = kebab_name(cursor)?;
            if !cursor.eat_word("if") {
                return Err(cursor.expected("`if` and a condition"));
            }
            EntryKind::Also(Box::new(AlsoAst { code, name, condition: expr(cursor)? }))
        }
        "example" => EntryKind::Example(Box::new(example::example(cursor, keyword.span)?)),
        "but" => EntryKind::Example(Box::new(example::variant(cursor, keyword.span, before)?)),
        _ => return Err(unknown_keyword(cursor, &keyword)),
    };
    let span = cursor.since(keyword.span);
    Ok(Entry { keyword, kind, span })
}

/// Parses `rewrite Relu (x)`: the value replaces the output of the last node of the pattern.
fn replacement(cursor: &mut Cursor, before: &[Entry]) -> Parsed<Statement> {
    let start = cursor.peek().span;
    let source = value::value(cursor)?;
    let span = cursor.since(start);
    value::without_alternatives(cursor, &source)?;
    let matched = before.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Match(statements) => statements.last(),
        _ => None,
    });
    match matched {
        Some(Statement::Make { targets, .. }) if targets.len() == 1 => {
            Ok(Statement::Make { targets: targets.clone(), source, span })
        }
        _ => {
            Err(cursor.fault(span, "the pattern before it does not define exactly one output: write `y = …`"))
        }
    }
}

/// Parses `finite(x), nonempty(y)`.
fn assume(cursor: &mut Cursor) -> Parsed<Vec<AssumeAst>> {
    let mut all = Vec::new();
    loop {
        let mut what = cursor.ident("an assumption, as in `finite(x)`")?;
        if &*what.text == "moderate" {
            cursor.note_old_word(what.span, "bounded");
            what.text = "bounded".into();
        }
        cursor.expect("(")?;
        let value = cursor.ident("a value of the pattern")?;
        cursor.expect(")")?;
        all.push(AssumeAst { what, value });
        if !cursor.eat(",") {
            return Ok(all);
        }
    }
}

/// Parses a condition and its optional reason.
fn condition(cursor: &mut Cursor) -> Parsed<ConditionAst> {
    let expr = expr(cursor)?;
    let is_explained = cursor.eat_word("because");
    let because = if is_explained { Some(cursor.string("a reason in quotes")?) } else { None };
    Ok(ConditionAst { expr, because })
}

/// Parses the nodes of `match { … }`.
pub fn pattern(cursor: &mut Cursor) -> Parsed<Vec<ast::Statement>> {
    block(cursor, value::statement)
}

/// Parses the conditions of `where { … }`.
pub fn conditions(cursor: &mut Cursor) -> Parsed<Vec<ast::ExprAst>> {
    block(cursor, expr)
}

/// Parses `{ item item … }`, or a single item without braces; drops items with faults.
fn block<T>(cursor: &mut Cursor, item: impl Fn(&mut Cursor) -> Parsed<T>) -> Parsed<Vec<T>> {
    if !cursor.eat("{") {
        return Ok(vec![item(cursor)?]);
    }
    let mut items = Vec::new();
    while !cursor.eat("}") {
        // Lines of a rewrite can begin with `let`, too.
        let at_entry = at_keyword(cursor) && !cursor.at_word("let");
        if cursor.is_end() || file::at_item(cursor) || at_entry {
            return Err(cursor.expected("`}`"));
        }
        let start = cursor.position();
        match item(cursor) {
            Ok(item) => items.push(item),
            Err(Reported) => cursor.recover(start, file::at_item),
        }
    }
    Ok(items)
}
