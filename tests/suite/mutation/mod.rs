//! Each condition of a rule is there for a reason, and each constant of its rewrite: a rule with one of them
//! left out or changed must fail one of its examples.
//!
//! All of it takes minutes; `tests/mutation` runs it. `ONNX_LINT_MUTATE=DEC1` is for the rules whose codes begin
//! so, and prints what survives.

mod sites;

use std::collections::BTreeMap;

use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;
use onnx_lint::trial::Trial;
use rayon::prelude::*;

use sites::{Mutant, mutants};

/// Mutants that may live, by code and fault, each with the reason why no example can tell.
const ACCEPTED: &str = include_str!("accepted.tsv");

/// What came of the mutants of one rule.
struct Tried<'r> {
    rule: &'r Rule,
    mutants: usize,
    /// The faults that no example shows, with the text at their place.
    survivors: Vec<String>,
}

fn try_rule<'r>(rule: &'r Rule, rules: &RuleSet) -> Tried<'r> {
    let mutants = mutants(rule);
    let survives = |mutant: &&Mutant| {
        let others = rules.overlaid(&RuleSet::of(mutant.rule.clone()));
        let trial = Trial::new(&mutant.rule, &others);
        rule.examples.iter().all(|example| trial.check(example).is_ok())
    };
    let survivors: Vec<String> =
        mutants.iter().filter(survives).map(|mutant| described(rule, &mutant.what)).collect();
    Tried { rule, mutants: mutants.len(), survivors }
}

/// A fault with the text that it is about: places shift with every change of a file.
fn described(rule: &Rule, what: &str) -> String {
    let Some((before, place)) = what.rsplit_once(" at ") else { return what.to_owned() };
    let bounds = place.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let Some((start, end)) = bounds else { return what.to_owned() };
    let source = &rule.source.source;
    let line = source.text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end_of_line = source.text[end..].find('\n').map_or(source.text.len(), |at| end + at);
    let (text, line) = (&source.text[start..end], source.text[line..end_of_line].trim());
    format!("{before} `{text}` in `{line}`")
}

fn tried<'r>(rules: &'r RuleSet, prefix: &str) -> Vec<Tried<'r>> {
    let chosen: Vec<&Rule> = rules.iter().filter(|rule| rule.code.starts_with(prefix)).collect();
    chosen.into_par_iter().map(|rule| try_rule(rule, rules)).collect()
}

/// At least this share of the mutants must fail an example.
const SHARE: f64 = 0.95;

#[test]
#[ignore = "takes minutes: tests/mutation runs it"]
fn every_condition_and_constant_is_needed() {
    let (rules, _) = RuleSet::embedded();
    let prefix = std::env::var("ONNX_LINT_MUTATE").unwrap_or_default();
    let tried = tried(&rules, &prefix);
    let accepted: BTreeMap<(&str, &str), &str> = ACCEPTED
        .lines()
        .filter_map(|line| {
            let mut columns = line.splitn(3, '\t');
            Some(((columns.next()?, columns.next()?), columns.next()?))
        })
        .collect();
    let (mut mutants, mut survivors) = (0, 0);
    for Tried { rule, mutants: count, survivors: alive } in &tried {
        mutants += count;
        survivors += alive.len();
        for what in alive.iter().filter(|what| !accepted.contains_key(&(&*rule.code, what.as_str()))) {
            println!("{}\t{what}", rule.code);
        }
    }
    let share = 1.0 - survivors as f64 / mutants.max(1) as f64;
    println!("{} rules, {mutants} mutants, {survivors} survive: {:.1} % fail", tried.len(), share * 100.0);
    assert!(share >= SHARE, "only {:.1} % of the mutants fail an example", share * 100.0);
}
