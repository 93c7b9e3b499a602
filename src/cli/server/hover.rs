//! Hover texts in Markdown.

use super::names::Names;
use super::rule_names::{self, Definition};
use super::signature;
use super::tokens::Tokens;
use super::words;
use crate::cli::catalog::Catalog;
use crate::graph::syntax::{ParsedModel, Source, Span, parse};
use crate::graph::{GraphId, Model, ValueId};
use crate::infer;
use crate::rules::func::Func;
use crate::schema;

/// Returns the hover text for a byte offset of an ONNX text, and its span.
pub fn in_model(source: &Source, offset: usize) -> Option<(String, Span)> {
    let names = Names::of(source);
    let parsed = parse(source);
    let model = parsed.model.as_ref()?;
    if let Some(operator) = names.operator_at(offset) {
        let opset = u16::try_from(model.opset(model.main, &operator.domain)?).ok()?;
        let schema = schema::lookup(&operator.domain, &operator.name, opset)?;
        return Some((signature::page(schema), operator.span));
    }
    let (value, place) = names.value_at(offset)?;
    let id = value_made_at(&parsed, model, &value.name, value.definition)?;
    let facts = infer::infer(model, infer::Options::default());
    Some((format!("```\n{}: {}\n```", value.name, facts[id]), place))
}

/// Returns the value that a node, an input or an initializer defines at a span of the text.
fn value_made_at(parsed: &ParsedModel, model: &Model, name: &str, at: Span) -> Option<ValueId> {
    let is_named = |value: &ValueId| &*model.values[*value].name == name;
    let around = parsed.spans.nodes().filter(|(_, span)| span.start <= at.start && at.end <= span.end);
    let nearest = around.min_by_key(|(_, span)| span.end - span.start);
    if let Some((node, _)) = nearest
        && let Some(made) = model.nodes[node].outputs.iter().flatten().copied().find(is_named)
    {
        return Some(made);
    }
    // A declaration. If several graphs declare the name, the value is ambiguous.
    let declared = |(id, _): (GraphId, _)| {
        let values = model.values.ids().filter(move |&value| model.values[value].graph == id);
        values.filter(is_named).filter(|&value| model.producer(value).is_none()).collect::<Vec<_>>()
    };
    let all: Vec<ValueId> = model.graphs.iter().flat_map(declared).collect();
    (all.len() == 1).then(|| all[0])
}

/// Returns the hover text for a byte offset of a rule file, and its span.
///
/// Shows operators, attributes, functions, patterns, keywords, and the rules whose codes are named.
pub fn in_rules(source: &Source, offset: usize, catalog: &Catalog) -> Option<(String, Span)> {
    let tokens = Tokens::new(&source.text, true);
    let at = tokens.word_at(offset)?;
    let (word, span) = (tokens.text(at), tokens.span(at)?);
    let before = at.checked_sub(1).map_or("", |before| tokens.text(before));
    if before == "@" {
        return None;
    }
    if tokens.text(at + 1) == "(" {
        let defined = rule_names::find(&source.text, word)
            .map(|(_, Definition { header, docs, .. })| format!("```onnx-rule\n{header}\n```\n{docs}"));
        let function = || Func::by_name(word).map(words::function);
        if let Some(text) = defined.or_else(function) {
            return Some((text, span));
        }
    }
    if let Some(attr) = attribute(&tokens, at) {
        return Some((attr, span));
    }
    if catalog.codes(word).first().is_some_and(|code| *code == word) {
        return Some((rule(word, catalog)?, span));
    }
    let called = tokens.called_at(at);
    if let Some(called) = called
        && let Some(schema) = called.schema(schema::latest(&called.domain).unwrap_or(1))
    {
        return Some((signature::page(schema), called.span));
    }
    let meaning = words::meaning(word).filter(|_| !matches!(tokens.text(at + 1), "=" | "," | ")"))?;
    Some((format!("**{word}**: {meaning}"), span))
}

/// Returns the kind and default of the attribute whose name is a token.
fn attribute(tokens: &Tokens, at: usize) -> Option<String> {
    let &open = tokens.open(at).last().filter(|&&open| tokens.text(open) == "<")?;
    if !matches!(tokens.text(at.checked_sub(1)?), "<" | ",") {
        return None;
    }
    let called = tokens.called(open)?;
    let schema = called.schema(schema::latest(&called.domain).unwrap_or(1))?;
    let attr = schema.attr(tokens.text(at))?;
    Some(format!("**{}** of {}: `{}`", attr.name, schema.name, signature::attribute(attr)))
}

/// Returns a short description of a rule: its name, summary, and the kind of its fix, if any.
pub fn rule(code: &str, catalog: &Catalog) -> Option<String> {
    let (_, info) = catalog.iter().find(|(known, _)| *known == code)?;
    let fix = info.fix.map_or_else(String::new, |fix| format!(" `onnx-fix` has a fix ({fix})."));
    Some(format!("**{code}** {}\n\n{}{fix}\n\n`onnx-lint --explain {code}`", info.name, info.summary))
}
