//! Completions: names that can stand at the cursor.

mod model;
mod rule;

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind};

use super::signature;
use super::tokens::Tokens;
use crate::graph::ElemType;
use crate::graph::syntax::Source;
use crate::schema::{self, Schema};

/// Characters after which an editor requests completions, besides letters.
pub const TRIGGERS: [&str; 5] = [".", "<", "(", "@", "="];

/// Returns the names that can stand at a byte offset of ONNX text.
pub fn in_model(source: &Source, offset: usize) -> Vec<CompletionItem> {
    let tokens = Tokens::new(&source.text, false);
    let before = tokens.before(offset);
    before.map_or_else(Vec::new, |before| model::complete(&tokens, before, Some((source, offset))))
}

/// Returns the words that can stand at a byte offset of a rule file; `codes` lists all rule codes.
pub fn in_rules<'c>(
    source: &Source,
    offset: usize,
    codes: impl Iterator<Item = &'c str>,
) -> Vec<CompletionItem> {
    let tokens = Tokens::new(&source.text, true);
    tokens.before(offset).map_or_else(Vec::new, |before| rule::complete(&tokens, before, source, codes))
}

/// Creates a completion of a kind.
fn item(label: &str, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    let detail = (!detail.is_empty()).then(|| detail.to_owned());
    CompletionItem { label: label.to_owned(), kind: Some(kind), detail, ..CompletionItem::default() }
}

/// Adds a text in Markdown to a completion.
fn documented(item: CompletionItem, text: &str) -> CompletionItem {
    let content = MarkupContent { kind: MarkupKind::Markdown, value: text.to_owned() };
    let documentation = (!text.is_empty()).then_some(Documentation::MarkupContent(content));
    CompletionItem { documentation, ..item }
}

/// Returns the operators of a domain at an opset.
fn operators(domain: &str, opset: u16) -> Vec<CompletionItem> {
    let in_force = schema::ops(domain).filter_map(|name| schema::lookup(domain, name, opset));
    let usable = in_force.filter(|schema| !schema.deprecated);
    usable.map(|schema| item(schema.name, CompletionItemKind::FUNCTION, &signature::line(schema))).collect()
}

/// Returns the attributes of an operator that its node does not set yet.
fn attributes(schema: &Schema, present: &[&str]) -> Vec<CompletionItem> {
    let missing = schema.attrs.iter().filter(|attr| !present.contains(&attr.name));
    missing
        .map(|attr| {
            let shown = item(attr.name, CompletionItemKind::PROPERTY, &signature::attribute(attr));
            // Required attributes come first.
            let sort_text = Some(format!("{}{}", u8::from(!attr.required), attr.name));
            CompletionItem { insert_text: Some(format!("{} = ", attr.name)), sort_text, ..shown }
        })
        .collect()
}

/// Returns the element types, as words.
fn types() -> impl Iterator<Item = CompletionItem> {
    ElemType::ALL.iter().map(|elem| item(elem.name(), CompletionItemKind::TYPE_PARAMETER, "element type"))
}

/// Returns the names of the attributes between the bracket `<` at `open` and the token at `before`.
fn present<'t>(tokens: &Tokens<'t>, open: usize, before: usize) -> Vec<&'t str> {
    let names = (open + 1..before)
        .filter(|&at| matches!(tokens.text(at - 1), "<" | ",") && matches!(tokens.text(at + 1), "=" | ":"));
    names.map(|at| tokens.text(at)).collect()
}
