//! Definitions in rule files: functions, patterns, rules, and the names of a rule.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use walkdir::{DirEntry, WalkDir};

use super::tokens::Tokens;
use crate::graph::syntax::Span;
use crate::rules::outline::{EXAMPLES, ITEMS, docs_above};
use crate::rules::registry::{EXTENSION, RuleSet};

/// A function or pattern of a rule file.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    /// `fn name(x, @a)`.
    pub header: String,
    /// Documentation of the function or pattern, in Markdown.
    pub docs: String,
    /// Span of the name.
    pub span: Span,
}

/// Returns the functions and patterns that a text defines.
pub fn definitions(text: &str) -> Vec<Definition> {
    let tokens = Tokens::new(text, true);
    let starts = (0..tokens.len()).filter(|&at| {
        matches!(tokens.text(at), "fn" | "pattern") && tokens.is_word(at + 1) && tokens.text(at + 2) == "("
    });
    let defined = starts.filter_map(|at| {
        let (start, name) = (tokens.span(at)?, tokens.span(at + 1)?);
        let end = tokens.span(tokens.closing(at + 2)?)?;
        let header = text.get(start.start as usize..end.end as usize)?.to_owned();
        let docs = docs_above(&text[..start.start as usize]).0.join("\n");
        Some(Definition { name: tokens.text(at + 1).to_owned(), header, docs, span: name })
    });
    defined.collect()
}

/// Returns the functions and patterns that every rule can use.
pub fn shared() -> &'static [Definition] {
    static SHARED: LazyLock<Vec<Definition>> = LazyLock::new(|| {
        let library = RuleSet::files().iter().filter(|(path, _)| path.starts_with("rules/lib/"));
        library.flat_map(|(_, text)| definitions(text)).collect()
    });
    &SHARED
}

/// Finds a function or pattern by name, and whether the text itself defines it.
pub fn find(text: &str, name: &str) -> Option<(bool, Definition)> {
    let is_meant = |one: &Definition| one.name == name;
    let own = definitions(text).into_iter().find(is_meant).map(|found| (true, found));
    own.or_else(|| shared().iter().find(|one| is_meant(one)).map(|found| (false, found.clone())))
}

/// Returns the span of the rule code `code` where the text defines it.
pub fn rule_at(text: &str, code: &str) -> Option<Span> {
    let tokens = Tokens::new(text, true);
    let found = (1..tokens.len()).find(|&at| {
        tokens.text(at) == code && matches!(tokens.text(at - 1), "rule" | "also") && tokens.is_word(at - 1)
    });
    found.and_then(|at| tokens.span(at))
}

/// Returns the first occurrence of a value or `@attribute` of a rule or function, which binds it.
pub fn binding(tokens: &Tokens, at: usize) -> Option<Span> {
    let is_variable = |at: usize| at > 0 && tokens.text(at - 1) == "@";
    let begins_item = |at: &usize| ITEMS.contains(&tokens.text(*at)) && tokens.depth(*at) == 0;
    let start = (0..=at).rev().find(begins_item)?;
    // A name in an example does not refer to a name of the rule.
    let is_example = |at: &usize| EXAMPLES.contains(&tokens.text(*at)) && tokens.depth(*at) == 1;
    if (start..at).any(|one| is_example(&one)) {
        return None;
    }
    let is_pattern = |at: &usize| tokens.text(*at) == "match" && tokens.depth(*at) == 1;
    let from = match tokens.text(start) {
        "rule" => (start..at).find(is_pattern)?,
        _ => start + 2,
    };
    let is_attribute_name = |at: usize| {
        matches!(tokens.text(at - 1), "<" | ",")
            && tokens.text(at + 1) == "="
            && tokens.open(at).last().is_some_and(|&open| tokens.text(open) == "<")
    };
    let is_same = |one: &usize| {
        tokens.text(*one) == tokens.text(at)
            && is_variable(*one) == is_variable(at)
            && !is_attribute_name(*one)
            && !matches!(tokens.text(one + 1), "(" | "<")
    };
    (from + 1..=at).find(is_same).and_then(|one| tokens.span(one))
}

/// Maximum depth of the folders of a set of rules.
const DEPTH: usize = 4;

/// Maximum number of files and folders to search for rules.
const MOST_ENTRIES: usize = 10_000;

/// Returns the readable rule files of the set of rules that contains `file`, without `file` itself.
///
/// The set is below the nearest folder that has a subfolder `lib` with rule files, or else below the folder of
/// `file`.
pub fn around(file: &Path) -> Vec<(PathBuf, String)> {
    let is_rules = |path: &Path| path.extension().is_some_and(|end| end == EXTENSION);
    let below = |folder: &Path, depth: usize| {
        let entries = WalkDir::new(folder).max_depth(depth).sort_by_file_name().into_iter();
        entries.take(MOST_ENTRIES).filter_map(Result::ok).map(DirEntry::into_path)
    };
    let folder = file.parent().unwrap_or(file);
    let has_library = |folder: &&Path| below(&folder.join("lib"), 1).any(|path| is_rules(&path));
    let root = folder.ancestors().take(DEPTH).find(has_library).unwrap_or(folder);
    let files = below(root, DEPTH).filter(|path| is_rules(path) && path != file);
    files.filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?))).collect()
}
