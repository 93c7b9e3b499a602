//! What a rule can do with bodies: it is applied inside of them, and hands one on as a whole, to one node.

use onnx_lint::graph::syntax::Source;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;

/// Whether the example of a rule about an If of a negation holds, by what the rule makes of it.
fn tried(rewrite: &str) -> Result<(), String> {
    let text = format!(
        r#"language 2
defaults {{ severity hint  phase simplify  safety exact }}

## An If asks for the contrary.
rule ZZZ100 contrary-condition {{
  message "`{{y}}` asks for the contrary of `{{c}}`"
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
  }} computes
  example "of no negation" {{
    g (bool c, float[A] x) => (float[A] y) {{
      y = If <then_branch = a () => (float[A] p) {{ p = Exp (x) }}, else_branch = b () => (float[A] q) {{ q = Abs (x) }}> (c)
    }}
  }} unchanged
}}
"#
    );
    let mut rules = RuleSet::default();
    assert_eq!(rules.add([Source::new("my.rule", &text)]), [], "{text}");
    let rule = rules.get("ZZZ100").expect("it has no fault");
    rule.examples.iter().try_for_each(|example| RuleTest::new(rule, &rules).check(example))
}

#[test]
fn a_body_is_handed_on() {
    assert_eq!(tried("y = If <then_branch = @else, else_branch = @then> (c)"), Ok(()));
}

/// Its values would be made at two places.
#[test]
fn a_body_is_handed_on_once() {
    let twice = "y = Add (If <then_branch = @else, else_branch = @then> (c), If <then_branch = @then, else_branch = @else> (c))";
    let said = tried(twice).expect_err("a body has one node");
    assert!(said.contains("two nodes would share a subgraph"), "{said}");
}
