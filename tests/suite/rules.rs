//! The rules in the guides. `tests/rules` tests the examples of all others.

use onnx_lint::graph::syntax::Source;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;

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
                let held = RuleTest::new(rule, &rules).check(example);
                assert_eq!(held, Ok(()), "{} {}", rule.code, example.name);
            }
        }
    }
}
