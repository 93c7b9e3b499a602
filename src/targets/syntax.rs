//! Parser of target files, with recovery from faults.

use super::ast::{FactAst, LineAst, PatternAst, RangeAst, SectionAst, TargetAst, VersionAst};
use crate::diag::{Finding, rule_ids};
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::cursor::{Cursor, Language, Parsed, Reported};
use crate::graph::syntax::lexer::{Strings, TokenKind};
use crate::graph::syntax::suggest::with_suggestion;
use crate::graph::syntax::{Source, node, number};
use crate::rules::syntax::{RuleNodes, conditions, pattern};

/// Settings of the tokenizer and the error reports for target files.
pub const TARGETS: Language = Language { rule: rule_ids::BAD_TARGET, strings: Strings::OneLine };

/// Keywords that open a section, one for each kind of evidence.
const KNOWN: [&str; 3] = ["measured", "documented", "inferred"];

/// Keywords that begin a line of a section.
const FACTS: [&str; 7] = ["opset", "ir", "needs", "domain", "op", "not", "nothing"];

fn unknown_word(cursor: &mut Cursor, word: &Name, what: &str, known: &[&str]) -> Reported {
    let message =
        with_suggestion(format!("`{}` is not {what}", word.text), &word.text, known.iter().copied());
    let finding = cursor.finding(word.span, message);
    cursor.report(finding.help(format!("use one of {}", known.join(", "))))
}

/// Parses a target file, which contains one target. Entries with faults are dropped.
pub fn parse(source: &Source) -> (Option<TargetAst>, Vec<Finding>) {
    let mut cursor = Cursor::new(source, TARGETS);
    let target = target(&mut cursor).ok();
    if target.is_some() && !cursor.is_end() {
        cursor.expected("the end of the file, which may contain only one target");
    }
    let target = target.map(|target| TargetAst { is_whole: cursor.faults() == 0, ..target });
    (target, cursor.into_findings())
}

fn target(cursor: &mut Cursor) -> Parsed<TargetAst> {
    if !cursor.eat_word("target") {
        return Err(cursor.expected("`target name { … }`"));
    }
    let name = cursor.ident("a target name, such as onnxruntime")?;
    if !cursor.at("{") {
        return Err(cursor.expected("`{` after the target name, which consists of letters, digits and `_`"));
    }
    let (title, aliases, versions, sections) = (None, Vec::new(), Vec::new(), Vec::new());
    let mut target = TargetAst { name, title, aliases, versions, sections, is_whole: true };
    entries(cursor, |cursor, word| {
        match &*word.text {
            "title" => target.title = Some(cursor.string("a title in quotes")?),
            "alias" => target.aliases.push(cursor.ident("an alias of the target")?),
            "version" => target.versions.push(version(cursor)?),
            known if KNOWN.contains(&known) => target.sections.push(section(cursor, word)?),
            _ => {
                let known = [&["title", "alias", "version"], &KNOWN[..]].concat();
                return Err(unknown_word(cursor, &word, "an entry of a target", &known));
            }
        }
        Ok(())
    })?;
    Ok(target)
}

/// Parses `{ word … word … }`; drops entries with faults.
fn entries(cursor: &mut Cursor, mut entry: impl FnMut(&mut Cursor, Name) -> Parsed<()>) -> Parsed<()> {
    let opened = cursor.expect("{")?;
    while !cursor.eat("}") {
        if cursor.is_end() {
            let place = cursor.source.place(opened);
            let finding = cursor.finding(cursor.peek().span, "missing `}`".to_owned());
            return Err(cursor.report(finding.related(place, "the block begins here")));
        }
        let start = cursor.position();
        let word = cursor.ident("an entry, or `}` after the last one");
        if word.and_then(|word| entry(cursor, word)).is_err() {
            cursor.recover(start, |_| false);
        }
    }
    Ok(())
}

fn version(cursor: &mut Cursor) -> Parsed<VersionAst> {
    let number = version_number(cursor)?;
    let mut sections = Vec::new();
    entries(cursor, |cursor, word| {
        if !KNOWN.contains(&&*word.text) {
            return Err(unknown_word(cursor, &word, "a kind of evidence", &KNOWN));
        }
        sections.push(section(cursor, word)?);
        Ok(())
    })?;
    Ok(VersionAst { number, sections })
}

/// Parses `1.31.1`: numbers joined by adjacent dots.
fn version_number(cursor: &mut Cursor) -> Parsed<Name> {
    let is_number = |cursor: &Cursor| matches!(cursor.peek().kind, TokenKind::Int | TokenKind::Float);
    if !is_number(cursor) {
        return Err(cursor.expected("a version number, such as 1.31"));
    }
    let first = cursor.bump().span;
    let mut end = first;
    while cursor.peek().span.start == end.end && (cursor.at(".") || is_number(cursor)) {
        end = cursor.bump().span;
    }
    let span = first.to(end);
    Ok(Name { text: cursor.source.slice(span).into(), span })
}

/// Parses a section after `measured` or similar: `"how" on "2026-11-22" { … }`.
fn section(cursor: &mut Cursor, known: Name) -> Parsed<SectionAst> {
    let source = cursor.string("the source of the evidence in quotes")?;
    if !cursor.eat_word("on") {
        return Err(cursor.expected("`on` and the date of the evidence"));
    }
    let date = cursor.string("a date, as in \"2026-11-22\"")?;
    let mut facts = Vec::new();
    entries(cursor, |cursor, word| fact(cursor, &word).map(|fact| facts.push(fact)))?;
    Ok(SectionAst { known, source, date, facts })
}

fn fact(cursor: &mut Cursor, word: &Name) -> Parsed<FactAst> {
    Ok(match &*word.text {
        "opset" => FactAst::Opset(range(cursor)?),
        "ir" => FactAst::Ir(range(cursor)?),
        "needs" => needs(cursor)?,
        "domain" => domains(cursor)?,
        "op" => FactAst::Op(line(cursor, true)?),
        "not" if cursor.eat_word("op") => FactAst::Op(line(cursor, false)?),
        "not" if cursor.eat_word("match") => FactAst::Match(together(cursor)?),
        "not" => return Err(cursor.expected("`op` or `match` after `not`")),
        "nothing" if cursor.eat_word("else") => FactAst::NothingElse { because: because(cursor)? },
        "nothing" => return Err(cursor.expected("`else`")),
        _ => return Err(unknown_word(cursor, word, "a fact about a target", &FACTS)),
    })
}

/// Parses `7..=26`, `..=13` or `7..`.
fn range(cursor: &mut Cursor) -> Parsed<RangeAst> {
    let start = cursor.peek().span;
    let from = if number::at_int(cursor) { Some(number::int(cursor)?) } else { None };
    cursor.expect("..")?;
    let to = if cursor.eat("=") { Some(number::int(cursor)?) } else { None };
    Ok(RangeAst { from, to, span: cursor.since(start) })
}

/// Parses `static` or `static except axis 0`.
fn needs(cursor: &mut Cursor) -> Parsed<FactAst> {
    if !cursor.eat_word("static") {
        return Err(cursor.expected("`static`, for inputs without dynamic dimensions"));
    }
    let mut free = Vec::new();
    if cursor.eat_word("except") {
        if !cursor.eat_word("axis") {
            return Err(cursor.expected("`axis` and the axes that may be dynamic"));
        }
        free.push(number::int(cursor)?);
        while cursor.eat(",") {
            free.push(number::int(cursor)?);
        }
    }
    Ok(FactAst::Static { free })
}

fn line(cursor: &mut Cursor, is_taken: bool) -> Parsed<LineAst> {
    let mut ops = vec![node::op::<RuleNodes>(cursor)?];
    while cursor.eat(",") {
        ops.push(node::op::<RuleNodes>(cursor)?);
    }
    let conditions = if cursor.eat_word("where") { conditions(cursor)? } else { Vec::new() };
    Ok(LineAst { is_taken, ops, conditions, because: because(cursor)? })
}

/// Parses a pattern after `not match`.
fn together(cursor: &mut Cursor) -> Parsed<PatternAst> {
    let start = cursor.peek().span;
    let nodes = pattern(cursor)?;
    let span = cursor.since(start);
    let conditions = if cursor.eat_word("where") { conditions(cursor)? } else { Vec::new() };
    Ok(PatternAst { nodes, conditions, because: because(cursor)?, span })
}

/// Parses an optional `because "…"`.
fn because(cursor: &mut Cursor) -> Parsed<Option<Name>> {
    if cursor.eat_word("because") { cursor.string("a reason in quotes").map(Some) } else { Ok(None) }
}

/// Parses a comma-separated list of domains: `ai.onnx, ai.onnx.ml`.
fn domains(cursor: &mut Cursor) -> Parsed<FactAst> {
    let mut domains = vec![domain(cursor)?];
    while cursor.eat(",") {
        domains.push(domain(cursor)?);
    }
    Ok(FactAst::Domains(domains))
}

/// Parses `ai.onnx.ml`: words joined by dots.
fn domain(cursor: &mut Cursor) -> Parsed<Name> {
    let first = cursor.ident("a domain, such as ai.onnx.ml")?.span;
    let mut end = first;
    while cursor.eat(".") {
        end = cursor.ident("the next word of the domain")?.span;
    }
    let span = first.to(end);
    Ok(Name { text: cursor.source.slice(span).into(), span })
}
