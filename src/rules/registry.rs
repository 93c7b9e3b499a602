//! Rule sets: built-in rules, and those that a user adds.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use walkdir::WalkDir;

use super::built_in::{self, built_in};
use super::check::{Faults, check_file};
use super::entry::Entry;
use super::rule::{Phase, Rule};
use super::syntax::{RULES, parse};
use crate::diag::{Finding, Level};
use crate::graph::syntax::Source;
use crate::graph::syntax::suggest::closest;

pub use super::built_in::{EXTENSION, RuleHeader};

fn taken(rule: &Rule, what: &str, text: &str, first: &Rule) -> Finding {
    let source = &rule.source.source;
    let message = format!("the {what} `{text}` is already in use");
    let mut finding = RULES.rule.finding(message, source.place(rule.source.header));
    finding.file = source.file.clone();
    let first_source = &first.source.source;
    match first_source.file == source.file {
        true => finding.related(first_source.place(first.source.header), "used by this rule"),
        false => finding.note(format!("used by rule {} {} in {}", first.code, first.name, first_source.file)),
    }
}

/// Valid rules, sorted by code.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    entries: Vec<Entry>,
}

impl RuleSet {
    /// Loads the built-in rules; without this call, they are loaded on first use.
    ///
    /// # Errors
    /// The rules come from a folder (see `CONTRIBUTING.md`) and cannot be loaded, for the returned reason.
    pub fn load() -> Result<(), &'static str> {
        built_in::load().map(|_| ())
    }

    /// Returns the faults of built-in rules that were dropped so far. Only rules from a folder have faults.
    pub fn faults() -> Vec<Finding> {
        built_in::faults()
    }

    /// Returns path and text of each file of the built-in rules.
    #[doc(hidden)]
    pub fn files() -> &'static [(&'static str, &'static str)] {
        built_in().files
    }

    /// Returns the built-in rules and their faults; a test checks that they have no faults.
    pub fn embedded() -> (RuleSet, Vec<Finding>) {
        let mut rules = RuleSet::default();
        let sources = RuleSet::files().iter().map(|(path, text)| Source::new(path, text));
        let findings = rules.add_from(sources, true);
        (rules, findings)
    }

    /// Returns the built-in rules. Rules with one of these codes or names have their examples.
    /// Only the files of these rules are parsed; other rules are parsed on first use.
    pub fn with_examples_of(codes_or_names: &[&str]) -> RuleSet {
        let is_wanted = |brief: &&RuleHeader| codes_or_names.iter().any(|name| brief.is_named(name));
        let paths: FxHashSet<&str> =
            RuleSet::headers().iter().filter(is_wanted).map(|brief| brief.path).collect();
        let mut rules = RuleSet::brief(|brief| !paths.contains(brief.path));
        let files = RuleSet::files().iter().filter(|(path, _)| paths.contains(path));
        rules.add_from(files.map(|(path, text)| Source::new(path, text)), true);
        rules
    }

    /// Returns the built-in rules that have a pattern, without their examples and without previews.
    /// Each rule is parsed on first use, because few of the rules can match in one model.
    pub fn patterns() -> RuleSet {
        RuleSet::with_previews().stable()
    }

    /// Returns the rules of [`RuleSet::patterns`] whose phase reports findings: `simplify` or `fix`.
    pub fn for_linting() -> RuleSet {
        RuleSet::with_previews().reporting().stable()
    }

    /// Returns the rules of [`RuleSet::patterns`] and the preview rules.
    pub fn with_previews() -> RuleSet {
        RuleSet::brief(|brief| brief.phase.is_some())
    }

    /// Returns the rules of this set whose phase reports findings: `simplify` or `fix`. No rule is parsed.
    #[doc(hidden)]
    pub fn reporting(&self) -> RuleSet {
        self.kept(|entry| matches!(entry.phase(), Some(Phase::Simplify | Phase::Fix)))
    }

    /// Returns the rules of this set except previews. No rule is parsed.
    pub fn stable(&self) -> RuleSet {
        self.kept(|entry| !entry.is_preview())
    }

    fn kept(&self, wanted: impl Fn(&Entry) -> bool) -> RuleSet {
        RuleSet { entries: self.entries.iter().filter(|entry| wanted(entry)).cloned().collect() }
    }

    fn brief(wanted: impl Fn(&RuleHeader) -> bool) -> RuleSet {
        let headers = built_in().headers.iter().filter(|brief| wanted(brief));
        let mut entries: Vec<Entry> = headers.map(|brief| Entry::BuiltIn(brief, Arc::default())).collect();
        entries.sort_by(|a, b| a.code().cmp(b.code()));
        RuleSet { entries }
    }

    /// Returns the index entries of all built-in rules, without parsing them.
    pub fn headers() -> &'static [RuleHeader] {
        built_in().headers
    }

    /// Returns the rules that can match in a model with these operators.
    #[doc(hidden)]
    pub fn about(&self, present: &dyn Fn(&str) -> bool) -> Vec<&Rule> {
        self.entries.iter().filter(|entry| entry.can_match(present)).filter_map(Entry::rule).collect()
    }

    /// Returns the rules of the given phases that can match in a model with the `present` operators.
    /// Operators that the rewrites of the returned rules add count as present. Rules that apply only after
    /// `opset` are omitted and not parsed.
    #[doc(hidden)]
    pub fn within_reach(
        &self,
        mut present: FxHashSet<Arc<str>>,
        phases: &[Phase],
        opset: Option<i64>,
    ) -> Vec<&Rule> {
        let is_wanted = |entry: &Entry| {
            let is_later = entry.since().zip(opset).is_some_and(|(since, opset)| since > opset);
            entry.phase().is_some_and(|phase| phases.contains(&phase)) && !is_later
        };
        let mut reached = vec![false; self.entries.len()];
        loop {
            let before = present.len();
            for (entry, reached) in self.entries.iter().zip(&mut reached).filter(|(_, reached)| !**reached) {
                if is_wanted(entry) && entry.can_match(&|op| present.contains(op)) {
                    *reached = true;
                    let made = entry.rule().into_iter().flat_map(Rule::makes);
                    present.extend(made.cloned());
                }
            }
            if present.len() == before {
                break;
            }
        }
        let reached = self.entries.iter().zip(&reached).filter(|(_, reached)| **reached);
        reached.filter_map(|(entry, _)| entry.rule()).collect()
    }

    /// Adds the rules of a text in the rule language; `name` identifies the text in findings.
    /// Rules with faults are dropped, as are rules whose code or name is already in use. Faults are
    /// returned.
    pub fn add_text(&mut self, name: &str, text: &str) -> Vec<Finding> {
        self.add([Source::new(name, text)])
    }

    /// Adds the rules of every `.rule` file below `folder`, in path order, like [`RuleSet::add_text`].
    ///
    /// # Errors
    /// A file cannot be read; no rules of the folder are added.
    pub fn add_folder(&mut self, folder: &Path) -> io::Result<Vec<Finding>> {
        let sources = rule_files(folder)?.into_iter();
        Ok(self.add(sources.map(|(path, text)| Source::new(&path.to_string_lossy(), &text))))
    }

    /// Adds the rules of several files.
    /// Rules with errors are dropped, as are rules whose code or name is already in use.
    #[doc(hidden)]
    pub fn add(&mut self, sources: impl IntoIterator<Item = Source>) -> Vec<Finding> {
        self.add_from(sources, false)
    }

    fn add_from(&mut self, sources: impl IntoIterator<Item = Source>, is_built_in: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        for source in sources {
            let (file, faults) = parse(&source);
            findings.extend(faults);
            let mut faults = Faults::new(&source);
            let rules = check_file(file, &mut faults);
            findings.extend(faults.into_findings());
            for rule in rules.into_iter().map(|rule| Rule { is_built_in, ..rule }) {
                match self.clash(&rule) {
                    Some(finding) => findings.push(finding),
                    None => self.entries.push(Entry::Read(Arc::new(rule))),
                }
            }
        }
        self.entries.sort_by(|a, b| a.code().cmp(b.code()));
        findings
    }

    fn clash(&self, rule: &Rule) -> Option<Finding> {
        let code = self.entries.iter().find(|other| other.code() == &*rule.code);
        let name = self.entries.iter().find(|other| other.name() == &*rule.name);
        let code = code.and_then(Entry::rule).map(|first| taken(rule, "code", &rule.code, first));
        code.or_else(|| name.and_then(Entry::rule).map(|first| taken(rule, "name", &rule.name, first)))
    }

    /// Iterates over the rules, by code.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.entries.iter().filter_map(Entry::rule)
    }

    /// Iterates over the rules that are stored parsed, not as entries of the built-in index.
    #[doc(hidden)]
    pub fn with_texts(&self) -> impl Iterator<Item = &Rule> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Read(rule) => Some(&**rule),
            Entry::BuiltIn(..) => None,
        })
    }

    /// Returns true if a rule fixes the findings of the rule `code`.
    pub fn fixes(&self, code: &str) -> bool {
        self.entries.iter().any(|entry| entry.fixes() == Some(code))
    }

    /// Iterates over the rules that fix the findings of the rule `code`. Other rules are not parsed.
    pub fn fixing(&self, code: &str) -> impl Iterator<Item = &Rule> {
        self.entries.iter().filter(move |entry| entry.fixes() == Some(code)).filter_map(Entry::rule)
    }

    /// Finds a rule by code or name.
    #[doc(hidden)]
    pub fn get(&self, code_or_name: &str) -> Option<&Rule> {
        let meant = |entry: &&Entry| entry.code() == code_or_name || entry.name() == code_or_name;
        self.entries.iter().find(meant)?.rule()
    }

    /// Creates a set of one rule.
    #[doc(hidden)]
    pub fn of(rule: Rule) -> RuleSet {
        RuleSet { entries: vec![Entry::Read(Arc::new(rule))] }
    }

    /// Returns this set overlaid with `others`: their rules replace those with equal codes.
    pub fn overlaid(&self, others: &RuleSet) -> RuleSet {
        let is_kept = |entry: &&Entry| !others.entries.iter().any(|other| other.code() == entry.code());
        let mut entries: Vec<Entry> = self.entries.iter().filter(is_kept).cloned().collect();
        entries.extend(others.entries.iter().cloned());
        entries.sort_by(|a, b| a.code().cmp(b.code()));
        RuleSet { entries }
    }

    /// Returns the set of the one rule with this code or name; empty if there is none.
    pub fn only(&self, code_or_name: &str) -> RuleSet {
        let rule = self.get(code_or_name).cloned();
        RuleSet { entries: rule.map(|rule| Entry::Read(Arc::new(rule))).into_iter().collect() }
    }

    /// Returns all rules except the one with this code. No rule is parsed.
    #[doc(hidden)]
    pub fn without(&self, code: &str) -> RuleSet {
        RuleSet { entries: self.entries.iter().filter(|entry| entry.code() != code).cloned().collect() }
    }

    /// Returns the rules that satisfy a predicate.
    pub fn filtered(&self, wanted: impl Fn(&Rule) -> bool) -> RuleSet {
        let is_wanted = |entry: &&Entry| entry.rule().is_some_and(&wanted);
        RuleSet { entries: self.entries.iter().filter(is_wanted).cloned().collect() }
    }

    /// Returns the rules with a wanted code and severity, without parsing any.
    pub fn of_severity(&self, wanted: impl Fn(&str, Level) -> bool) -> RuleSet {
        let is_wanted = |entry: &&Entry| wanted(entry.code(), entry.severity());
        RuleSet { entries: self.entries.iter().filter(is_wanted).cloned().collect() }
    }

    /// Returns true if a code, code prefix or name selects any rule; `ALL` selects every rule.
    pub fn knows(&self, selector: &str) -> bool {
        self.iter().any(|rule| is_meant(rule, selector))
    }

    /// Returns the code or name closest to an unknown one.
    pub fn closest(&self, code_or_name: &str) -> Option<&str> {
        closest(code_or_name, self.iter().flat_map(|rule| [&*rule.code, &*rule.name]))
    }
}

/// Returns path and text of every `.rule` file below `folder`, in path order.
///
/// # Errors
/// A file cannot be read.
#[doc(hidden)]
pub fn rule_files(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let path = entry?.into_path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
            let text = std::fs::read_to_string(&path)?;
            files.push((path, text));
        }
    }
    Ok(files)
}

/// Returns true if a code, code prefix or name selects a rule; `ALL` selects every rule.
#[doc(hidden)]
pub fn is_meant(rule: &Rule, selector: &str) -> bool {
    selector == "ALL" || &*rule.name == selector || (!selector.is_empty() && rule.code.starts_with(selector))
}

#[cfg(test)]
mod tests;
