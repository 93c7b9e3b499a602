//! Tests that rewrites preserve outputs, unless they are unsafe.
//! Examples of the rules run at several sizes on random inputs, before and after the rewrite.

use std::collections::BTreeMap;

use onnx_lint::graph::Model;
use onnx_lint::rule_tests::numbers::{Claim, Outcome, compare};
use onnx_lint::rule_tests::{inputs, run::run};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Expect, Rule, Safety};

/// Returns true if a rule fixes mixed element types.
/// A model with mixed element types does not run, so only the fixed model runs, and nothing is compared.
fn mends_types(rule: &Rule) -> bool {
    rule.fixes.as_deref() == Some("DTY001")
}

fn runs(model: &Model) -> bool {
    inputs::sets(model).is_ok_and(|sets| sets.iter().any(|set| run(model, &set.inputs).is_ok()))
}

#[test]
fn rewrites_preserve_outputs() {
    let (rules, _) = RuleSet::embedded();
    let (mut equal, mut failures, mut skipped) = (0, Vec::new(), BTreeMap::new());
    for rule in rules.iter().filter(|rule| rule.safety != Safety::Unsafe) {
        for example in &rule.examples {
            let after = match &example.expect {
                Expect::RewritesTo(after) => after,
                // `tests/rules` already compares the results of these examples.
                Expect::Equivalent => {
                    equal += 1;
                    continue;
                }
                Expect::NoMatch | Expect::Reports(_) => continue,
            };
            let name = format!("{} {:?}", rule.code, example.name);
            if mends_types(rule) {
                assert!(runs(after), "{name}: the rewritten model does not run");
                continue;
            }
            let claim = Claim { phase: rule.phase, safety: rule.safety, assumptions: &rule.assumptions };
            match compare(&example.model, after, &claim) {
                Outcome::Equal => equal += 1,
                Outcome::Skipped(why) => drop(skipped.insert(name, format!("{why:?}"))),
                Outcome::NeverRan(why) => {
                    drop(skipped.insert(name, format!("the original model does not run: {why}")))
                }
                Outcome::Differs(why) => failures.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} examples differ:\n{}", failures.len(), failures.join("\n"));
    assert!(skipped.len() * 20 <= equal, "too many skipped examples, for {equal} equal ones: {skipped:#?}");
}
