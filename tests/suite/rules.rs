//! The examples in the rules: each rule gives exactly what its example says, and is silent on its own
//! result.

use std::sync::Arc;

use onnx_lint::diag::{Finding, Selection};
use onnx_lint::fix::{self, Options};
use onnx_lint::graph::Model;
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Example, Expect, Phase, Rule, Safety};

use crate::canonical;

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

fn check(rules: &RuleSet, rule: &Rule, example: &Example) -> Result<(), String> {
    let expected = match &example.expect {
        Expect::Becomes(model) => model,
        Expect::Unchanged => &example.model,
        Expect::Finds(messages) => return check_findings(rules, rule, example, messages),
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

/// The rule reports exactly the messages of its example.
fn check_findings(
    rules: &RuleSet,
    rule: &Rule,
    example: &Example,
    messages: &[Arc<str>],
) -> Result<(), String> {
    let options = LintOptions {
        selection: Selection::new(vec![rule.code.to_string()], Vec::new()),
        rules: Arc::new(rules.clone()),
        ..LintOptions::default()
    };
    let findings = lint_model(&example.model, &options);
    let found: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
    let wanted: Vec<&str> = messages.iter().map(|message| &**message).collect();
    if found != wanted {
        return Err(format!("wanted {wanted:#?}, found {found:#?}"));
    }
    match findings.iter().find(|finding| finding.level > rule.severity) {
        Some(finding) => Err(format!("found at level {}, above that of the page", finding.level)),
        None => Ok(()),
    }
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
            if let Err(failure) = check(&alone, rule, example) {
                failures.push(format!("{} {}, example {:?}: {failure}", rule.code, rule.name, example.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} examples fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
