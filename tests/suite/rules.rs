//! Rules in the guides. `tests/rules` tests the examples of the built-in rules.

use onnx_lint::graph::syntax::Source;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;

/// The first rule in each guide is valid, and its examples hold.
#[test]
fn rules_in_the_guides_are_valid_and_tested() {
    for guide in [include_str!("../../rules/README.md"), include_str!("../../CONTRIBUTING.md")] {
        let block = guide.split("```\n").nth(1).expect("the guide has a block of code");
        let indent = block.len() - block.trim_start().len();
        let text: Vec<&str> = block.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
        let text = text.join("\n");
        let defaults = "language 3\ndefaults { severity hint  phase simplify  safety exact }\n";
        let text = if text.starts_with("language") { text } else { format!("{defaults}{text}") };
        let mut rules = RuleSet::default();
        assert_eq!(rules.add([Source::new("guide", &text)]), [], "{text}");
        for rule in rules.iter() {
            for example in &rule.examples {
                let held = RuleTest::new(rule, &rules).check(example);
                assert_eq!(held, Ok(()), "{} {}", rule.code, example.name);
            }
        }
    }
}
