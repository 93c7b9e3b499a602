//! Messages: text with expressions in braces.

use super::ast::{TextAst, TextPart};
use super::expr::expr;
use crate::graph::syntax::Span;
use crate::graph::syntax::cursor::{Cursor, Parsed};

/// Parses one or more strings, which are concatenated. `{{` and `}}` are literal braces.
pub fn template(cursor: &mut Cursor) -> Parsed<TextAst> {
    let start = cursor.peek().span;
    let mut parts = Vec::new();
    let first = cursor.string("a text in quotes")?;
    string(cursor, first.span, &mut parts)?;
    while cursor.at_quoted() {
        let next = cursor.string("a text in quotes")?;
        string(cursor, next.span, &mut parts)?;
    }
    Ok(TextAst { parts, span: cursor.since(start) })
}

/// Parses a string token with placeholders; `span` includes the quotes.
fn string(cursor: &mut Cursor, span: Span, parts: &mut Vec<TextPart>) -> Parsed<()> {
    let source = cursor.source;
    let inner = source.slice(span).strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or("");
    let base = span.start as usize + 1;
    let mut text = String::new();
    let mut chars = inner.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => text.extend(chars.next().map(|(_, char)| char)),
            '{' | '}' if chars.next_if(|(_, next)| *next == char).is_some() => text.push(char),
            '}' => {
                let span = Span::new(base + at, base + at + 1);
                return Err(cursor.fault(span, "`}` has no matching `{`; write `}}` for a literal brace"));
            }
            '{' => {
                let rest = &inner[at + 1..];
                let closed = rest.find(['{', '}']).filter(|&end| rest[end..].starts_with('}'));
                let Some(len) = closed else {
                    let span = Span::new(base + at, base + at + 1);
                    return Err(cursor.fault(span, "`{` is not closed; write `{{` for a literal brace"));
                };
                if !text.is_empty() {
                    parts.push(TextPart::Text(std::mem::take(&mut text)));
                }
                let hole = Span::new(base + at + 1, base + at + 1 + len);
                parts.push(TextPart::Hole(cursor.part(hole, expr)?));
                while chars.next_if(|(next, _)| *next <= at + 1 + len).is_some() {}
            }
            char => text.push(char),
        }
    }
    if !text.is_empty() {
        parts.push(TextPart::Text(text));
    }
    Ok(())
}
