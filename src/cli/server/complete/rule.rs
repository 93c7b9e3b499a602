//! Completions in rule files.

use lsp_types::{CompletionItem, CompletionItemKind};

use super::model::{self, in_attributes};
use super::{documented, item, operators, types};
use crate::cli::server::rule_names::{definitions, shared};
use crate::cli::server::tokens::Tokens;
use crate::cli::server::words::{self, Word};
use crate::graph::syntax::Source;
use crate::rules::builtin;
use crate::rules::func::Func;
use crate::rules::outline::is_keyword;
use crate::rules::rule::Assumption;
use crate::schema;

/// Returns the words that can stand after `before` tokens.
pub fn complete<'c>(
    tokens: &Tokens,
    before: usize,
    source: &Source,
    codes: impl Iterator<Item = &'c str>,
) -> Vec<CompletionItem> {
    let open = tokens.open(before);
    let last = before.checked_sub(1).map_or("", |last| tokens.text(last));
    let Some(&item_open) = open.first() else {
        return if matches!(last, "" | "}" | ")" | "]") || last.parse::<i64>().is_ok() {
            keywords(&words::ITEMS)
        } else {
            in_value(tokens, before, source)
        };
    };
    let entry = entry(tokens, item_open, before);
    let at_entries = open.len() == 1;
    if last == "@" {
        return variables(tokens, item_open, before);
    }
    match (last, entry) {
        ("status", _) => return keywords(&words::STATUSES),
        ("severity", _) => return keywords(&words::SEVERITIES),
        ("phase", _) => return keywords(&words::PHASES),
        ("safety", _) => return keywords(&words::SAFETIES),
        ("fixes", _) => return codes.map(|code| item(code, CompletionItemKind::REFERENCE, "rule")).collect(),
        ("assume", _) | (",", Some("assume")) if at_entries => {
            let assumed = Assumption::ALL.iter();
            return assumed.map(|one| item(one.name(), CompletionItemKind::KEYWORD, one.meaning())).collect();
        }
        (":", Some("detect")) => {
            return builtin::names()
                .map(|name| item(&name, CompletionItemKind::REFERENCE, "analysis"))
                .collect();
        }
        _ => {}
    }
    let begins_value = matches!(
        last,
        "=" | "(" | "," | "|" | ":" | "+" | "-" | "*" | "/" | "{" | "match" | "rewrite" | "both"
    );
    let mut found = match entry {
        Some("example" | "but") if at_entries => keywords(&words::OUTCOMES),
        Some("example" | "but") => return model::complete(tokens, before, None),
        Some("match" | "rewrite") if begins_value || !at_entries => in_value(tokens, before, source),
        Some("where" | "let" | "also") => expressions(source),
        _ => Vec::new(),
    };
    if at_entries && !matches!(last, "=" | "(" | "," | "|") {
        found.extend(keywords(&words::ENTRIES));
    }
    found
}

fn keywords(words: &[Word]) -> Vec<CompletionItem> {
    words.iter().map(|(word, meaning)| item(word, CompletionItemKind::KEYWORD, meaning)).collect()
}

/// Returns the keyword of the entry that contains the cursor.
fn entry<'t>(tokens: &Tokens<'t>, item_open: usize, before: usize) -> Option<&'t str> {
    let begins = |at: &usize| {
        let is_value = matches!(tokens.text(at + 1), "=" | "," | "." | "?");
        is_keyword(tokens.text(*at)) && !is_value && tokens.open(*at) == [item_open]
    };
    (item_open + 1..before).rev().find(begins).map(|at| tokens.text(at))
}

/// Returns the operators, functions and attributes that a value of a rule or function can begin with.
fn in_value(tokens: &Tokens, before: usize, source: &Source) -> Vec<CompletionItem> {
    let open = tokens.open(before);
    let latest = |domain: &str| schema::latest(domain).unwrap_or(1);
    if let Some(&inner) = open.last().filter(|&&inner| tokens.text(inner) == "<") {
        let Some(called) = tokens.called(inner) else { return Vec::new() };
        let mut found = in_attributes(tokens, inner, before, &called, latest(&called.domain));
        if tokens.text(before - 1) == "=" {
            found.extend(expressions(source));
        }
        return found;
    }
    if let Some(domain) = tokens.domain_before(before) {
        return operators(&domain, latest(&domain));
    }
    let domains = schema::domains().filter(|domain| !domain.is_empty());
    let prefixes = domains.map(|domain| item(domain, CompletionItemKind::MODULE, "domain"));
    let mut found = operators("", latest(""));
    found.extend(prefixes);
    found.extend(expressions(source));
    found
}

/// Returns the functions and types that can be used in rule expressions.
fn expressions(source: &Source) -> Vec<CompletionItem> {
    let built_in = Func::ALL.iter().map(|&func| {
        let shown = item(func.name(), CompletionItemKind::METHOD, &words::signature(func));
        documented(shown, func.docs().trim())
    });
    let own = definitions(&source.text).into_iter().chain(shared().iter().cloned());
    let defined =
        own.map(|one| documented(item(&one.name, CompletionItemKind::METHOD, &one.header), &one.docs));
    built_in.chain(defined).chain(types()).collect()
}

/// Returns the variables of the rule before the cursor.
fn variables(tokens: &Tokens, item_open: usize, before: usize) -> Vec<CompletionItem> {
    let named = (item_open + 1..before.saturating_sub(1))
        .filter(|&at| tokens.text(at - 1) == "@" && tokens.is_word(at));
    let mut names: Vec<&str> = named.map(|at| tokens.text(at)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| item(name, CompletionItemKind::VARIABLE, "attribute")).collect()
}
