//! Index of the rule files: properties of each rule that are needed before it is parsed.
//!
//! `build.rs` includes this file to embed the index in release and WebAssembly builds; other builds compute it at run
//! time. This file may use no modules of the crate except [`needs`](super::needs) and
//! [`outline`](super::outline).

use std::borrow::Cow;

use super::needs;
use super::outline::{EXAMPLES, Outline, Outlined, called, outline};

/// Index of a set of rule files; `'t` is the lifetime of the texts of the files.
#[derive(Debug, Default)]
pub struct Index<'t> {
    pub rules: Vec<Indexed<'t>>,
    /// Texts that rules share: the `defaults` entry and the functions of each rule file.
    pub shared: Vec<&'t str>,
}

/// Index entry of a rule.
#[derive(Clone, Debug)]
pub struct Indexed<'t> {
    pub path: &'t str,
    pub code: &'t str,
    pub name: &'t str,
    pub summary: &'t str,
    /// Name of the rule's status, and the code of the successor of a deprecated rule.
    pub status: (&'t str, Option<&'t str>),
    /// Name of the level of the rule's findings: `hint`.
    pub severity: &'t str,
    /// Code after `fixes`: the rule that reports the findings that this rule fixes.
    pub fixes: Option<&'t str>,
    /// First opset at which the rule applies without a target.
    pub since: Option<i64>,
    /// For some nodes that all matches contain, the operators that each may have.
    pub needs: Vec<Vec<Cow<'t, str>>>,
    /// Name of the rule's phase; `None` for the page of a built-in analysis.
    pub phase: Option<&'t str>,
    /// Indices into [`Index::shared`]: defaults of the file, and functions that the rule calls.
    pub shared: Vec<usize>,
    /// Text of the rule without its examples.
    pub text: String,
}

impl<'t> Index<'t> {
    /// Adds the rules of one file.
    ///
    /// # Errors
    /// A rule has no phase, severity or docs; the message contains its code.
    pub fn add(&mut self, path: &'t str, text: &'t str) -> Result<(), String> {
        let file = outline(text);
        let names: Vec<&str> = file.functions.iter().map(|(name, _)| *name).collect();
        let first = self.shared.len();
        self.shared.extend(&file.defaults);
        self.shared.extend(file.functions.iter().map(|(_, text)| *text));
        for rule in &file.rules {
            let functions = needed_functions(rule, &file.functions, &names);
            let functions = functions.into_iter().map(|at| file.defaults.len() + at);
            let shared = (0..file.defaults.len()).chain(functions).map(|at| first + at).collect();
            let indexed = index_rule(path, rule, &file, shared)?;
            let named = |(code, name)| Indexed { code, name, ..indexed.clone() };
            self.rules.extend(rule.codes().map(named));
        }
        Ok(())
    }
}

fn index_rule<'t>(
    path: &'t str,
    rule: &Outlined<'t>,
    file: &Outline<'t>,
    shared: Vec<usize>,
) -> Result<Indexed<'t>, String> {
    let Outlined { code, name, .. } = *rule;
    let own = |keyword: &str| rule.entry(keyword).and_then(|text| text.split_whitespace().next());
    let default = |keyword: &str| {
        let mut words = file.defaults.iter().flat_map(|text| text.split_whitespace());
        words.find(|word| *word == keyword).and_then(|_| words.next())
    };
    let setting = |keyword: &str| own(keyword).or_else(|| default(keyword));
    let mut words = rule.entry("status").into_iter().flat_map(str::split_whitespace);
    let status = words.next().or_else(|| default("status")).unwrap_or("stable");
    let successor = words.next().filter(|word| *word == "by").and_then(|_| words.next());
    let phase = match (rule.entry("detect"), rule.entry("rewrite")) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(setting("phase").ok_or(format!("{code} has no phase"))?),
        (None, None) => Some("fix"),
    };
    let is_quiet = phase.is_some_and(|phase| ["convert", "lower", "prove"].contains(&phase));
    let severity = setting("severity").or(is_quiet.then_some("hint"));
    let kept = rule.entries.iter().filter(|(keyword, _)| !EXAMPLES.contains(keyword));
    let entries: String = kept.map(|(_, text)| format!("  {text}\n")).collect();
    let docs: String = rule.docs.iter().map(|line| format!("## {line}\n")).collect();
    // With `rewrite both`, the rewrite is a pattern, too, so the operators of `match` are not required.
    let needs = match own("rewrite") {
        Some("both") => Vec::new(),
        _ => needs::operators(rule.entry("match").unwrap_or_default()),
    };
    Ok(Indexed {
        path,
        code,
        name,
        summary: rule.docs.first().ok_or(format!("{code} has no docs"))?,
        status: (status, successor),
        severity: severity.ok_or(format!("{code} has no severity"))?,
        fixes: own("fixes"),
        since: setting("since").and_then(|opset| opset.parse().ok()),
        needs,
        phase,
        shared,
        text: format!("{docs}{}\n{entries}}}\n", rule.header),
    })
}

/// Returns the indices of the functions that a rule calls, directly or indirectly.
fn needed_functions(rule: &Outlined, functions: &[(&str, &str)], names: &[&str]) -> Vec<usize> {
    let texts = rule.entries.iter().filter(|(keyword, _)| !EXAMPLES.contains(keyword)).map(|(_, text)| *text);
    let mut open: Vec<&str> = texts.collect();
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        for name in called(text, names) {
            let at = names.iter().position(|other| *other == name).unwrap_or_default();
            if !found.contains(&at) {
                found.push(at);
                open.push(functions[at].1);
            }
        }
    }
    found.sort_unstable();
    found
}
