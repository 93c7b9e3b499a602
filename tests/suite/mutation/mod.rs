//! Mutation testing of the rules.
//! A mutant of a rule lacks a condition, an alternative or an attribute of a new node, or has a different
//! constant in its rewrite. At least one example of the rule must fail for the mutant, unless `accepted.tsv`
//! lists it. Mutants of a function are tested with the examples of all rules that call the function.
//!
//! `tests/mutation` runs this test. `ONNX_LINT_MUTATE=DEC1` selects rules by a prefix of their codes; then
//! surviving mutants are only printed, and the test passes.
//! `ONNX_LINT_RULES=rules` reads the rules from that directory, without a new release build.

#[path = "../../rules/harness.rs"]
mod harness;
mod sites;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use onnx_lint::graph::syntax::{Source, Span};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Example, Expect, Phase, Rule};
use rayon::prelude::*;

use self::harness::rule_test;
use sites::{Fault, FaultKind, faults, with_fault};

/// Accepted mutants, by rule or file and by fault, each with the reason why no example can detect it.
const ACCEPTED: &str = include_str!("accepted.tsv");

/// A fault, and the affected rules: one rule, or all callers of the function with the fault.
struct Mutant<'r> {
    /// Code of the rule, or file of the function.
    home: String,
    /// The fault, with its source text: positions change with every edit of a file.
    what: String,
    fault: Fault,
    rules: Vec<&'r Rule>,
}

fn mutants<'r>(rules: &'r RuleSet, prefix: &str) -> Vec<Mutant<'r>> {
    let library = library();
    let mut mutants: IndexMap<(String, Fault), Mutant<'r>> = IndexMap::new();
    // Lowerings have no examples: the conformance check `aten` tests them.
    let is_held_here = |rule: &&Rule| rule.code.starts_with(prefix) && rule.phase != Phase::Lower;
    let is_main = |rule: &&Rule| rule.whole.as_ref().is_none_or(|whole| whole.code == rule.code);
    for rule in rules.iter().filter(is_held_here).filter(is_main) {
        let rule = rule.whole.as_deref().unwrap_or(rule);
        for fault in faults(rule) {
            let own = &rule.source.source;
            let all = std::iter::once(own).chain(&library);
            let text = all.clone().find(|source| is_at(source, &fault)).unwrap_or(own);
            let is_inside = !matches!(fault.kind, FaultKind::Alternative(Some(_)))
                && rule.source.span.start <= fault.span.start
                && fault.span.end <= rule.source.span.end;
            let home = match std::ptr::eq(text, own) && is_inside {
                true => rule.code.to_string(),
                false => text.file.to_string(),
            };
            let mutant = || Mutant {
                home: home.clone(),
                what: described(text, &fault),
                fault: fault.clone(),
                rules: Vec::new(),
            };
            mutants.entry((home.clone(), fault.clone())).or_insert_with(mutant).rules.push(rule);
        }
    }
    mutants.into_values().collect()
}

/// Returns the files with functions that every rule can call.
fn library() -> Vec<Source> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/lib");
    let files = std::fs::read_dir(folder).expect("the folder is readable");
    let mut paths: Vec<_> = files.map(|file| file.expect("the file is readable").path()).collect();
    paths.sort();
    let source = |path: &std::path::PathBuf| {
        let name = path.file_name().map(|name| format!("rules/lib/{}", name.to_string_lossy()));
        let text = std::fs::read_to_string(path).expect("the file is readable");
        Source::new(&name.unwrap_or_default(), &text)
    };
    paths.iter().map(source).collect()
}

fn text_at(source: &Source, span: Span) -> Option<&str> {
    source.text.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
}

/// Returns true if the fault may be in this source.
/// If the fault replaces a constant, the text at its position must be the constant. If the fault
/// removes an attribute, the text must start with the name of the attribute.
fn is_at(source: &Source, fault: &Fault) -> bool {
    let Some(text) = text_at(source, fault.span) else { return false };
    let number = |text: &str| text.replace(' ', "").parse::<f64>().ok();
    match &fault.kind {
        FaultKind::Condition | FaultKind::Alternative(None) => true,
        FaultKind::Alternative(Some(pattern)) => source.text.contains(&format!("pattern {pattern}(")),
        // `@axis` stands for `axis = @axis`.
        FaultKind::Attribute(name) => text.trim_start_matches('@').starts_with(name),
        // A constant of a function that an expression calls has the position of the call.
        FaultKind::Constant(written) => {
            let is_call = text.starts_with(|first: char| first.is_ascii_lowercase()) && text.ends_with(')');
            let is_equal = number(text).is_some_and(|found| number(written) == Some(found));
            text == written || is_call || is_equal
        }
    }
}

fn described(source: &Source, fault: &Fault) -> String {
    let text = text_at(source, fault.span).unwrap_or_default();
    let (before, after) = source.text.split_at(fault.span.end as usize);
    let line = before.rsplit('\n').next().unwrap_or_default().to_owned();
    let line = line + after.lines().next().unwrap_or_default();
    let line = line.trim();
    match &fault.kind {
        FaultKind::Condition => format!("without the condition `{}`", text.replace('\n', " ")),
        FaultKind::Alternative(_) => format!("without the alternative `{text}` in `{line}`"),
        FaultKind::Constant(_) => format!("with another constant `{text}` in `{line}`"),
        FaultKind::Attribute(_) => format!("without the attribute `{text}` in `{line}`"),
    }
}

fn survives(mutant: &Mutant, rules: &RuleSet) -> bool {
    mutant.rules.iter().all(|rule| {
        let wrong = with_fault(rule, &mutant.fault);
        let others = rules.overlaid(&RuleSet::of(wrong.clone()));
        let test = rule_test(&wrong, &others);
        let mut examples: Vec<&Example> = rule.examples.iter().collect();
        examples.sort_by_key(|example| cost(&example.expect));
        examples.iter().all(|example| test.check(example).is_ok())
    })
}

/// Returns the estimated cost of an example.
/// Cheap examples run first, because the first failure ends the test of a mutant.
fn cost(expect: &Expect) -> u8 {
    match expect {
        Expect::NoMatch | Expect::Reports(_) => 0,
        Expect::RewritesTo(_) => 1,
        Expect::Equivalent => 2,
    }
}

/// Minimum fraction of mutants that an example detects.
/// `accepted.tsv` must list all undetected mutants, with a reason.
const SHARE: f64 = 0.95;

#[test]
#[ignore = "takes minutes: run tests/mutation"]
fn every_condition_constant_and_attribute_is_tested_by_an_example() {
    let (rules, _) = RuleSet::embedded();
    let prefix = std::env::var("ONNX_LINT_MUTATE").unwrap_or_default();
    let mutants = mutants(&rules, &prefix);
    let survivors: Vec<&Mutant> = mutants.par_iter().filter(|mutant| survives(mutant, &rules)).collect();
    let accepted: BTreeMap<(&str, &str), &str> = ACCEPTED
        .lines()
        .filter_map(|line| {
            let mut columns = line.splitn(3, '\t');
            Some(((columns.next()?, columns.next()?), columns.next()?))
        })
        .collect();
    let alive: BTreeSet<(&str, &str)> =
        survivors.iter().map(|mutant| (&*mutant.home, &*mutant.what)).collect();
    let missed: Vec<_> = alive.iter().filter(|mutant| !accepted.contains_key(mutant)).collect();
    for (home, what) in &missed {
        println!("{home}\t{what}");
    }
    let share = 1.0 - survivors.len() as f64 / mutants.len().max(1) as f64;
    let (count, left) = (mutants.len(), survivors.len());
    println!("{count} mutants, {left} survive, {} unexplained: {:.1} % fail", missed.len(), share * 100.0);
    if prefix.is_empty() {
        let gone: Vec<_> = accepted.keys().filter(|mutant| !alive.contains(mutant)).collect();
        assert!(gone.is_empty(), "accepted mutants that no longer exist: {gone:#?}");
        assert!(share >= SHARE, "only {:.1} % of the mutants fail an example", share * 100.0);
        assert!(missed.is_empty(), "{} survive without a reason", missed.len());
    }
}
