//! The examples in the rules hold.

use onnx_lint::cli::fix::verify::arrays;
use onnx_lint::diag::Finding;
use onnx_lint::graph::syntax::Source;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;
use onnx_lint::trial::Trial;

/// The rules that are built in, or those of the folder that `ONNX_LINT_RULES` names: so that somebody who
/// writes rules need not build anything.
pub fn rules_at_hand() -> (RuleSet, Vec<Finding>) {
    match std::env::var_os("ONNX_LINT_RULES") {
        None => RuleSet::embedded(),
        Some(folder) => {
            let mut rules = RuleSet::default();
            let faults = rules.add_folder(folder.as_ref()).expect("the folder can be read");
            (rules, faults)
        }
    }
}

/// With ONNX Runtime where it is at hand: `ORT_DYLIB_PATH` names it, as `tests/environment.sh` sets it.
pub fn trial<'r>(rule: &'r Rule, rules: &'r RuleSet) -> Trial<'r> {
    let trial = Trial::new(rule, rules);
    match std::env::var_os("ORT_DYLIB_PATH") {
        Some(_) => trial.running_in(&arrays::load),
        None => trial,
    }
}

#[test]
fn examples_hold() {
    let (rules, faults) = rules_at_hand();
    assert_eq!(faults, []);
    let mut failures = Vec::new();
    for rule in rules.iter() {
        let trial = trial(rule, &rules);
        for example in &rule.examples {
            if let Err(failure) = trial.check(example) {
                failures.push(format!("{} {}, example {:?}: {failure}", rule.code, rule.name, example.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} examples fail:\n\n{}", failures.len(), failures.join("\n\n"));
}

/// What the guides show can be copied: the first rule of each is one without faults whose examples hold.
#[test]
fn rules_in_the_guides_hold() {
    for guide in [include_str!("../../rules/README.md"), include_str!("../../CONTRIBUTING.md")] {
        let block = guide.split("```\n").nth(1).expect("there is a block of code");
        let indent = block.len() - block.trim_start().len();
        let text: Vec<&str> = block.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
        let text = text.join("\n");
        let defaults = "language 2\ndefaults { severity hint  phase simplify  safety exact }\n";
        let text = if text.starts_with("language") { text } else { format!("{defaults}{text}") };
        let mut rules = RuleSet::default();
        assert_eq!(rules.add([Source::new("guide", &text)]), [], "{text}");
        for rule in rules.iter() {
            for example in &rule.examples {
                let held = Trial::new(rule, &rules).check(example);
                assert_eq!(held, Ok(()), "{} {}", rule.code, example.name);
            }
        }
    }
}
