//! Rules and subgraphs: a rewrite may move a whole subgraph, but only to one node.

use onnx_lint::graph::syntax::Source;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;

/// Tests the examples of a rule with this rewrite. The rule matches an If whose condition is a Not.
fn test_example(rewrite: &str) -> Result<(), String> {
    let text = format!(
        r#"language 3
defaults {{ severity hint  phase simplify  safety exact }}

## The condition of an If is negated.
rule ZZZ100 negated-condition {{
  message "the condition of `{{y}}` is the negation of `{{c}}`"
  match {{ y = If <then_branch = @then, else_branch = @else> (Not (c)) }}
  rewrite {{ {rewrite} }}
  example "of two, and of two in one of them" {{
    g (bool c, bool d, float[A] x) => (float[A] y) {{
      t = Neg (x)
      n = Not (c)
      m = Not (d)
      y = If <then_branch = a () => (float[A] p) {{ p = Exp (t) }}, else_branch = b () => (float[A] q) {{
        q = If <then_branch = e () => (float[A] r) {{ r = Abs (t) }}, else_branch = f () => (float[A] s) {{ s = Sin (x) }}> (m)
      }}> (n)
    }}
  }} equivalent
  example "of no negation" {{
    g (bool c, float[A] x) => (float[A] y) {{
      y = If <then_branch = a () => (float[A] p) {{ p = Exp (x) }}, else_branch = b () => (float[A] q) {{ q = Abs (x) }}> (c)
    }}
  }} no_match
}}
"#
    );
    let mut rules = RuleSet::default();
    assert_eq!(rules.add([Source::new("my.rule", &text)]), [], "{text}");
    let rule = rules.get("ZZZ100").expect("the rule is valid");
    rule.examples.iter().try_for_each(|example| RuleTest::new(rule, &rules).check(example))
}

#[test]
fn rewrite_moves_subgraphs_to_a_new_node() {
    assert_eq!(test_example("y = If <then_branch = @else, else_branch = @then> (c)"), Ok(()));
}

/// A subgraph must not be moved to two nodes: its values would be defined twice.
#[test]
fn rewrite_that_shares_a_subgraph_is_rejected() {
    let twice = "y = Add (If <then_branch = @else, else_branch = @then> (c), If <then_branch = @then, else_branch = @else> (c))";
    let error = test_example(twice).expect_err("a body has one node");
    assert!(error.contains("two nodes would share a subgraph"), "{error}");
}
