//! Completions in ONNX text, and in the examples of rules.

use lsp_types::{CompletionItem, CompletionItemKind};

use super::{attributes, item, operators, present, types};
use crate::cli::server::names::{Names, Value};
use crate::cli::server::tokens::{Called, Tokens};
use crate::graph::AttrKind;
use crate::graph::syntax::{Source, quoted};
use crate::schema::{self, Values};

/// Keys of the header of a model or function.
const HEADER: [(&str, &str); 9] = [
    ("ir_version", "version of the file format"),
    ("opset_import", "opset version of each domain"),
    ("producer_name", "tool that wrote the model"),
    ("producer_version", "version of the producer"),
    ("domain", "domain of the model or function"),
    ("model_version", "version of the model"),
    ("doc_string", "description"),
    ("metadata_props", "pairs of strings"),
    ("overload", "overload of a function"),
];

/// Words for types that contain other types.
const CONTAINERS: [&str; 4] = ["seq", "map", "optional", "sparse_tensor"];

/// Returns the names that can stand after `before` tokens.
/// Names of values are returned only if the text is a whole model (`whole`).
pub fn complete(tokens: &Tokens, before: usize, whole: Option<(&Source, usize)>) -> Vec<CompletionItem> {
    let Some(&open) = tokens.open(before).last() else { return Vec::new() };
    let last = tokens.text(before - 1);
    let begins_item = matches!(last, "<" | "(" | "[" | ",");
    let opset = |domain: &str| opset(tokens, domain);
    match tokens.text(open) {
        "{" if is_graph(tokens, open) => match tokens.domain_before(before) {
            Some(domain) => operators(&domain, opset(&domain)),
            None if last == "=" => {
                let domains = schema::domains().filter(|domain| !domain.is_empty());
                let prefixes = domains.map(|domain| item(domain, CompletionItemKind::MODULE, "domain"));
                operators("", opset("")).into_iter().chain(prefixes).collect()
            }
            None => Vec::new(),
        },
        "(" if begins_item && node_of(tokens, open).is_some() => values(tokens, whole),
        "(" if begins_item => all_types(),
        "<" if begins_item && tokens.text(open.wrapping_sub(1)) == ")" => all_types(),
        "<" => match node_of(tokens, open) {
            None if begins_item => {
                HEADER.iter().map(|(key, meaning)| item(key, CompletionItemKind::KEYWORD, meaning)).collect()
            }
            None => Vec::new(),
            Some(called) => in_attributes(tokens, open, before, &called, opset(&called.domain)),
        },
        _ => Vec::new(),
    }
}

/// Returns the names or values of attributes of a node.
pub fn in_attributes(
    tokens: &Tokens,
    open: usize,
    before: usize,
    called: &Called,
    opset: u16,
) -> Vec<CompletionItem> {
    let Some(schema) = called.schema(opset) else { return Vec::new() };
    match tokens.text(before - 1) {
        "<" | "," => attributes(schema, &present(tokens, open, before)),
        "=" => {
            let Some(attr) = before.checked_sub(2).and_then(|at| schema.attr(tokens.text(at))) else {
                return Vec::new();
            };
            match attr.values {
                Values::OneOf(words) => {
                    words.iter().map(|word| item(&quoted(word), CompletionItemKind::VALUE, "")).collect()
                }
                _ if matches!(attr.kind, AttrKind::Tensor | AttrKind::Type) => all_types(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn all_types() -> Vec<CompletionItem> {
    let containers = CONTAINERS.iter().map(|word| item(word, CompletionItemKind::TYPE_PARAMETER, "type"));
    types().chain(containers).collect()
}

/// Returns the values that are defined before the cursor.
fn values(tokens: &Tokens, whole: Option<(&Source, usize)>) -> Vec<CompletionItem> {
    let Some((source, offset)) = whole else { return Vec::new() };
    let names = Names::of(source);
    // The declaration of an output defines no value.
    let is_output = |value: &&Value| {
        let at = tokens.word_at(value.definition.start as usize);
        let open = at.and_then(|at| tokens.innermost(at)).and_then(|open| open.checked_sub(2));
        open.is_some_and(|before| (tokens.text(before), tokens.text(before + 1)) == ("=", ">"))
    };
    let is_earlier = |value: &&Value| (value.definition.start as usize) < offset;
    let earlier = names.values.iter().filter(|value| is_earlier(value) && !is_output(value));
    earlier.map(|value| item(&value.name, CompletionItemKind::VARIABLE, "value")).collect()
}

/// Returns true for the brace of a graph; that of a tensor follows a type or `=`.
fn is_graph(tokens: &Tokens, open: usize) -> bool {
    matches!(tokens.text(open.wrapping_sub(1)), ")" | ">" | "rewrites_to")
}

/// Returns the operator of a bracket, if it belongs to a node and not to a graph or header.
fn node_of(tokens: &Tokens, open: usize) -> Option<Called> {
    let called = tokens.called(open)?;
    let is_node =
        called.first > 0 && tokens.text(called.first - 1) == "=" && tokens.text(called.first) != ">";
    // A subgraph `then_branch = name (…) => (…)` has parameters, too.
    let is_attribute = tokens.open(called.first).last().is_some_and(|&around| tokens.text(around) == "<");
    (is_node && !is_attribute).then_some(called)
}

/// Returns the opset of a domain that the text imports, or else the newest opset of the domain.
fn opset(tokens: &Tokens, domain: &str) -> u16 {
    let wanted = quoted(domain);
    let imported = (2..tokens.len()).find(|&at| {
        tokens.text(at - 1) == ":"
            && (tokens.text(at - 2) == wanted || (domain.is_empty() && tokens.text(at - 2) == "\"ai.onnx\""))
    });
    let version = imported.and_then(|at| tokens.text(at).parse().ok());
    version.or_else(|| schema::latest(domain)).unwrap_or(1)
}
