//! The examples in the rules: each rule gives exactly what its example says, and is silent on its own
//! result.

use std::sync::Arc;

use onnx_lint::diag::{Finding, Selection};
use onnx_lint::fix::{self, Options};
use onnx_lint::graph::Model;
use onnx_lint::graph::uses::Uses;
use onnx_lint::infer::{self, infer};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::rules::matcher;
use onnx_lint::rules::message::render;
use onnx_lint::rules::plain::PlainHost;
use onnx_lint::rules::plan::plan;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Body, Direction, Example, Expect, Phase, Rule, Safety};

use crate::{canonical, soundness};

/// Runs one rule alone.
fn apply(rules: &RuleSet, rule: &Rule, model: Model, target: Option<i64>) -> Result<Model, String> {
    let options =
        Options { opset: target, unsafe_fixes: rule.safety == Safety::Unsafe, ..Options::default() };
    let outcome = fix::fix(model, &options, rules);
    match outcome.findings.first() {
        None => Ok(outcome.model),
        Some(finding) => Err(finding.message.clone()),
    }
}

fn check(rules: &RuleSet, all: &RuleSet, rule: &Rule, example: &Example) -> Result<(), String> {
    let expected = match &example.expect {
        Expect::Becomes(model) => model,
        Expect::Unchanged if rule.phase == Phase::Convert => {
            return match fires(rule, &example.model) {
                false => Ok(()),
                true => Err("the rule fires".to_owned()),
            };
        }
        Expect::Unchanged => &example.model,
        Expect::Computes => return computes(rules, all, rule, example),
        Expect::Finds(messages) => return check_findings(rule, example, messages),
    };
    let result = apply(rules, rule, example.model.clone(), example.target)?;
    let (wanted, got) = (canonical::text(expected), canonical::text(&result));
    if wanted != got {
        return Err(format!("wanted\n{wanted}got\n{got}"));
    }
    let again = apply(rules, rule, result, example.target)?;
    let again = canonical::text(&again);
    if again != got && rule.phase != Phase::Convert {
        return Err(format!("not silent on its own result:\n{again}"));
    }
    Ok(())
}

/// The rule fires, and what comes of it is legal at the target and gives equal numbers. Where the rule alone does
/// not reach the target, the others help.
fn computes(alone: &RuleSet, all: &RuleSet, rule: &Rule, example: &Example) -> Result<(), String> {
    if rule.phase == Phase::Convert && !fires(rule, &example.model) {
        return Err("the rule does not fire".to_owned());
    }
    let with = |rules| apply(rules, rule, example.model.clone(), example.target);
    let (result, safety) = match with(alone) {
        Ok(result) => (result, rule.safety),
        Err(_) => (with(all)?, rule.safety.max(Safety::Rounding)),
    };
    if canonical::text(&result) == canonical::text(&example.model) {
        return Err("nothing changes".to_owned());
    }
    soundness::check(rule, safety, example, &result)
}

/// The rule says exactly what its example says.
fn check_findings(rule: &Rule, example: &Example, wanted: &[Arc<str>]) -> Result<(), String> {
    let found = match &rule.body {
        Body::Builtin(_) => found_by_code(rule, &example.model)?,
        Body::Pattern { forward, .. } => {
            forward.iter().flat_map(|pattern| found_by_pattern(rule, pattern, &example.model)).collect()
        }
    };
    let wanted: Vec<&str> = wanted.iter().map(|message| &**message).collect();
    if found == wanted { Ok(()) } else { Err(format!("wanted {wanted:#?}, found {found:#?}")) }
}

fn found_by_code(rule: &Rule, model: &Model) -> Result<Vec<String>, String> {
    let selection = Selection::new(vec![rule.code.to_string()], Vec::new());
    let findings = lint_model(model, &LintOptions { selection, ..LintOptions::default() });
    match findings.iter().find(|finding| finding.level > rule.severity) {
        Some(finding) => Err(format!("found at level {}, above that of the page", finding.level)),
        None => Ok(findings.into_iter().map(|finding| finding.message).collect()),
    }
}

/// Whether the rule makes anything of the main graph.
fn fires(rule: &Rule, model: &Model) -> bool {
    let (facts, uses) = (infer(model, infer::Options::default()), Uses::new(model));
    let host = PlainHost::new(model, model.main, &facts, &uses);
    rule.directions().any(|direction| {
        let matches = matcher::find(&host, direction).matches;
        matches.into_iter().any(|found| plan(&host, direction, found).is_ok())
    })
}

/// What a pattern says where it matches, whether linting would report it or not: conversions are for onnx-fix
/// alone.
fn found_by_pattern(rule: &Rule, pattern: &Direction, model: &Model) -> Vec<String> {
    let (facts, uses) = (infer(model, infer::Options::default()), Uses::new(model));
    let host = PlainHost::new(model, model.main, &facts, &uses);
    let matches = matcher::find(&host, pattern).matches;
    matches.iter().map(|found| render(&rule.message, &host, found)).collect()
}

/// The rules that are built in, or those of the folder that `ONNX_LINT_RULES` names: so that somebody who
/// writes rules need not build anything.
fn rules_at_hand() -> (RuleSet, Vec<Finding>) {
    match std::env::var_os("ONNX_LINT_RULES") {
        None => RuleSet::embedded(),
        Some(folder) => {
            let mut rules = RuleSet::default();
            let faults = rules.add_folder(folder.as_ref()).expect("the folder can be read");
            (rules, faults)
        }
    }
}

#[test]
fn examples_hold() {
    let (rules, faults) = rules_at_hand();
    assert_eq!(faults, []);
    let mut failures = Vec::new();
    for rule in rules.iter() {
        let alone = rules.only(&rule.code);
        for example in &rule.examples {
            if let Err(failure) = check(&alone, &rules, rule, example) {
                failures.push(format!("{} {}, example {:?}: {failure}", rule.code, rule.name, example.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} examples fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
