//! The examples in the rules hold.

use onnx_lint::diag::Finding;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::trial::Trial;

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
        let trial = Trial::new(rule, &rules);
        for example in &rule.examples {
            if let Err(failure) = trial.check(example) {
                failures.push(format!("{} {}, example {:?}: {failure}", rule.code, rule.name, example.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} examples fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
