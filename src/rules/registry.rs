//! The rules at hand: those that are built in, and those that a user brings along.

use std::io;
use std::path::Path;

use walkdir::WalkDir;

use super::check::{Faults, check};
use super::rule::Rule;
use super::syntax::{RULES, parse};
use crate::diag::{Finding, Level};
use crate::graph::syntax::Source;
use crate::graph::syntax::suggest::closest;

/// A rule that is built in, without its examples.
pub struct Brief {
    pub code: &'static str,
    pub name: &'static str,
    pub severity: Level,
    /// The first line of its docs.
    pub summary: &'static str,
    path: &'static str,
    kind: Kind,
    text: &'static str,
}

/// What a rule is of use for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The page of something that code finds: nothing is matched.
    Page,
    /// Conversion, and other forms of the same, about which there is nothing to say.
    Conversion,
    /// It says something of a graph, and perhaps mends it.
    Finding,
}

/// The files below `rules/`, by path, sorted, and their rules one by one; `build.rs` collects them.
mod embedded {
    use super::{Brief, Kind, Level};

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// The ending of the name of a rule file.
pub const EXTENSION: &str = "rule";

fn taken(rule: &Rule, what: &str, text: &str, first: &Rule) -> Finding {
    let source = &rule.source.source;
    let message = format!("the {what} `{text}` is taken");
    let mut finding = RULES.rule.finding(message, source.place(rule.source.header));
    finding.file = source.file.clone();
    let first_source = &first.source.source;
    match first_source.file == source.file {
        true => finding.related(first_source.place(first.source.header), "by this rule"),
        false => finding.note(format!("by {} {} in {}", first.code, first.name, first_source.file)),
    }
}

/// Rules without faults, by code.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
}

impl RuleSet {
    /// The rules that are built in, with the faults in them: a test holds that there are none.
    pub fn embedded() -> (RuleSet, Vec<Finding>) {
        let mut rules = RuleSet::default();
        let findings = rules.add(embedded::FILES.iter().map(|(path, text)| Source::new(path, text)));
        (rules, findings)
    }

    /// The rules that are built in and have a pattern, without their examples. Their texts are known to have
    /// no faults, for a test holds that.
    pub fn patterns() -> RuleSet {
        RuleSet::brief(|brief| brief.kind != Kind::Page)
    }

    /// Those of them that say something of a model as it is: a linter starts often, and
    /// has no use for the conversions, which are the most.
    pub fn for_linting() -> RuleSet {
        RuleSet::brief(|brief| brief.kind == Kind::Finding)
    }

    fn brief(wanted: impl Fn(&Brief) -> bool) -> RuleSet {
        let mut rules = Vec::new();
        for brief in embedded::BRIEF.iter().filter(|brief| wanted(brief)) {
            let source = Source::new(brief.path, brief.text);
            let (asts, _) = parse(&source);
            let mut faults = Faults::ignored(&source);
            rules.extend(asts.into_iter().filter_map(|ast| check(ast, &mut faults)));
        }
        rules.sort_by(|a: &Rule, b| a.code.cmp(&b.code));
        RuleSet { rules }
    }

    /// What is known of every rule that is built in without reading it.
    pub fn headers() -> &'static [Brief] {
        embedded::BRIEF
    }

    /// Adds the rules of every `.rule` file below `folder`, in the order of their paths.
    pub fn add_folder(&mut self, folder: &Path) -> io::Result<Vec<Finding>> {
        let mut sources = Vec::new();
        for entry in WalkDir::new(folder).sort_by_file_name() {
            let path = entry?.into_path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                let text = std::fs::read_to_string(&path)?;
                sources.push(Source::new(&path.to_string_lossy(), &text));
            }
        }
        Ok(self.add(sources))
    }

    /// Adds the rules of some files; a rule with an error is left out, and so is one whose code or name
    /// another has.
    pub fn add(&mut self, sources: impl IntoIterator<Item = Source>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for source in sources {
            let (asts, faults) = parse(&source);
            findings.extend(faults);
            let mut faults = Faults::new(&source);
            let rules: Vec<Rule> = asts.into_iter().filter_map(|ast| check(ast, &mut faults)).collect();
            findings.extend(faults.into_findings());
            for rule in rules {
                match self.clash(&rule) {
                    Some(finding) => findings.push(finding),
                    None => self.rules.push(rule),
                }
            }
        }
        self.rules.sort_by(|a, b| a.code.cmp(&b.code));
        findings
    }

    fn clash(&self, rule: &Rule) -> Option<Finding> {
        let code = self.rules.iter().find(|other| other.code == rule.code);
        let name = self.rules.iter().find(|other| other.name == rule.name);
        let code = code.map(|first| taken(rule, "code", &rule.code, first));
        code.or_else(|| name.map(|first| taken(rule, "name", &rule.name, first)))
    }

    /// By code.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The rule of this code or name.
    pub fn get(&self, code_or_name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| &*rule.code == code_or_name || &*rule.name == code_or_name)
    }

    /// The rule of this code or name alone.
    pub fn only(&self, code_or_name: &str) -> RuleSet {
        RuleSet { rules: self.get(code_or_name).cloned().into_iter().collect() }
    }

    /// Whether any rule is meant by this code, prefix of codes, or name; `ALL` means every one.
    pub fn knows(&self, selector: &str) -> bool {
        self.rules.iter().any(|rule| is_meant(rule, selector))
    }

    /// The code or name that is closest to one that is not known.
    pub fn closest(&self, code_or_name: &str) -> Option<&str> {
        closest(code_or_name, self.rules.iter().flat_map(|rule| [&*rule.code, &*rule.name]))
    }
}

/// Whether a rule is meant by this code, prefix of codes, or name; `ALL` means every one.
pub fn is_meant(rule: &Rule, selector: &str) -> bool {
    selector == "ALL" || &*rule.name == selector || (!selector.is_empty() && rule.code.starts_with(selector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::known;
    use crate::rules::rule::{Body, Phase};

    #[test]
    fn the_rules_that_are_built_in_have_no_faults() {
        let (rules, findings) = RuleSet::embedded();
        assert_eq!(findings, []);
        let (patterns, linting) = (RuleSet::patterns(), RuleSet::for_linting());
        for rule in rules.iter() {
            let has_pattern = matches!(rule.body, Body::Pattern { .. });
            assert_eq!(patterns.get(&rule.code).is_some(), has_pattern, "{}", rule.code);
            let is_reported = has_pattern && !matches!(rule.phase, Phase::Convert | Phase::Explore);
            assert_eq!(linting.get(&rule.code).is_some(), is_reported, "{}", rule.code);
            let brief = RuleSet::headers().iter().find(|brief| *brief.code == *rule.code);
            let brief = brief.map(|brief| (brief.name, brief.severity, brief.summary));
            assert_eq!(brief, Some((&*rule.name, rule.severity, rule.summary())));
            assert!(rules.get(&rule.code).is_some_and(|found| found.name == rule.name));
            assert!(rules.knows(&rule.code[..3]) && rules.knows(&rule.name) && rules.knows("ALL"));
        }
        assert!(!rules.knows("") && !rules.knows("no-such-rule"));
    }

    #[test]
    fn what_code_finds_has_the_name_of_its_analysis() {
        let (rules, _) = RuleSet::embedded();
        let mut pages = 0;
        for rule in rules.iter() {
            if let Body::Builtin(analysis) = &rule.body {
                assert_eq!(**analysis, rule.name.replace('-', "_"), "{}", rule.code);
                pages += 1;
            }
        }
        assert_eq!(pages, known::ALL.len());
    }
}
