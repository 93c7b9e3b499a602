//! One test per example of each rule, named `CODE rule-name: example`.
//! `cargo test --test rules OPT101` runs the examples of one rule.
//!
//! Debug builds read the rules from `rules/`, so an edited rule is tested without compilation. The names come from an
//! outline of the files; a file is parsed when the first of its tests runs.

mod harness;

use std::sync::{Arc, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use onnx_lint::diag::render::{self, Look};
use onnx_lint::graph::syntax::Source;
use onnx_lint::rules::outline::{EXAMPLES, outline};
use onnx_lint::rules::registry::RuleSet;

use harness::rule_test;

/// A rule file that is parsed on first use.
struct RuleFile {
    path: &'static str,
    text: &'static str,
    parsed: OnceLock<Result<RuleSet, String>>,
}

impl RuleFile {
    fn rules(&self) -> &Result<RuleSet, String> {
        self.parsed.get_or_init(|| {
            let mut rules = RuleSet::default();
            let faults = rules.add([Source::new(self.path, self.text)]);
            if faults.is_empty() { Ok(rules) } else { Err(render::findings(&faults, Look::default())) }
        })
    }
}

/// Returns all rules, which an example may need in addition to its own.
fn others() -> &'static RuleSet {
    static OTHERS: OnceLock<RuleSet> = OnceLock::new();
    OTHERS.get_or_init(RuleSet::patterns)
}

fn check(file: &RuleFile, code: &str, index: usize, name: &str) -> Result<(), Failed> {
    let rules = file.rules().as_ref()?;
    let rule = rules.get(code).ok_or(format!("{}: no rule {code}", file.path))?;
    let example = rule.examples.get(index).filter(|example| &*example.name == name);
    let example = example.ok_or("the outline and the parser disagree about the examples of this rule")?;
    rule_test(rule, others()).check(example).map_err(Failed::from)
}

/// Returns the name of an example: the string after its keyword.
fn example_name(entry: &str) -> &str {
    entry.split('"').nth(1).unwrap_or_default()
}

fn tests(path: &'static str, text: &'static str) -> Vec<Test> {
    let file = Arc::new(RuleFile { path, text, parsed: OnceLock::new() });
    let mut tests = Vec::new();
    for rule in outline(text).rules {
        let examples = rule.entries.iter().filter(|(keyword, _)| EXAMPLES.contains(keyword));
        for (index, (_, entry)) in examples.enumerate() {
            let (file, code, example) = (Arc::clone(&file), rule.code, example_name(entry));
            let name = format!("{code} {}: {example}", rule.name);
            tests.push(Test::test(name, move || check(&file, code, index, example)));
        }
    }
    tests
}

fn main() {
    if let Err(why) = RuleSet::load() {
        eprintln!("{why}");
        std::process::exit(2);
    }
    let tests = RuleSet::files().iter().flat_map(|(path, text)| tests(path, text)).collect();
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
