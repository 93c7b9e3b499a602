//! Faults in choices of operators, in alternatives, and in the definitions of patterns.

use super::check_in;

/// A rule with alternatives and patterns.
pub const RULE: &str = r#"language 3
pattern square(d) = Mul (d, d) | Pow (d, 2.0)
pattern total(x, @k) {
  a = Abs (x)
  ReduceSum@1 <axes = @k> (a) | ReduceL1@1 <axes = @k> (x)
}

## A square of a sum.
rule OPT104 square-of-sum {
  severity hint
  phase    simplify
  safety   rounding
  message  "`{y}` is a square, and {s} is added"
  match {
    q = square(total(x, @axes))
    y = q | Add (q, s)
  }
  where { @axes == [0] }
  rewrite { y = case { is_present(s): Add (Abs (x), s)  else: Abs (x) } }
  example "plain" at opset 10 {
    g (float[1] x) => (float[1] y) { a = Abs (x)  t = ReduceSum <axes = [0]> (a)  y = Mul (t, t) }
  } rewrites_to { y = Abs (x) }
  example "another axis" at opset 10 {
    g (float[1,1] x) => (float[1,1] y) { a = Abs (x)  t = ReduceSum <axes = [1]> (a)  y = Mul (t, t) }
  } no_match
}
"#;

#[test]
fn alternatives_are_checked() {
    let check = |name: &str, right: &str, wrong: &str| check_in(RULE, name, right, wrong);
    check("pattern-unknown", "q = square(", "q = sqare(");
    check("pattern-arguments", "square(total(x, @axes))", "square(total(x))");
    check("pattern-attribute", "total(x, @axes)", "total(x, x)");
    check("pattern-in-itself", "Mul (d, d) |", "Mul (d, square(d)) |");
    check("pattern-twice", "pattern total(", "pattern square(");
    check("pattern-name", "pattern total(", "pattern Total(");
    check("pattern-operator", "Mul (d, d) |", "Mol (d, d) |");
    check(
        "pattern-unused",
        "<axes = @k> (a) |",
        "<axes = @k> (a) | ReduceMax@1 <axes = @k, keepdims = @m> (a) |",
    );
    check("alternative-operator", "Add (q, s)", "Sub (q, s, s)");
    check("alternative-in-rewrite", "else: Abs (x)", "else: Abs (x) | Relu (x)");
    check("alternative-in-both", "rewrite {", "rewrite both {");
    check("alternative-root", "y = q | Add", "y = s | Add");
    check("alternative-name-only", "    y = q | Add (q, s)", "    y = q");
    check("alternative-unbound", "is_present(s)", "is_present(z)");
    let many = "y = Add (q, Add (square(x), Add (square(x), Add (square(x), Add (square(x), square(x))))))";
    check("alternative-many", "y = q | Add (q, s)", many);
}

/// A rule with a choice of operators.
pub const CHOICE: &str = r#"## A reduction over nothing.
rule OPT103 reduction-over-nothing {
  severity hint
  phase    simplify
  safety   exact
  message  "`{y}` is `{x}` by {@op}, and again"
  match {
    t = @op in [ReduceMax@18, ReduceMin@18] <keepdims = @k> (x, axes)
    y = @op <keepdims = @k> (t, axes)
  }
  where { @op != "ReduceSum" }
  rewrite { y = @op <keepdims = @k> (x, axes) }
  example "at once" {
    g (float[A,B] x) => (float[1,B] y) <int64[1] a = {0}> { t = ReduceMin (x, a)  y = ReduceMin (t, a) }
  } rewrites_to { y = ReduceMin (x, a) }
  example "two operators" {
    g (float[A,B] x) => (float[1,B] y) <int64[1] a = {0}> { t = ReduceMin (x, a)  y = ReduceMax (t, a) }
  } no_match
}
"#;

#[test]
fn operator_choices_are_checked() {
    let check = |name: &str, right: &str, wrong: &str| check_in(CHOICE, name, right, wrong);
    check("choice-misspelt", "[ReduceMax@18, ", "[ReduceMx, ");
    check("choice-epoch", "ReduceMax@18", "ReduceMax@17");
    check("choice-attribute", "[ReduceMax@18, ReduceMin@18]", "[ReduceMax@18, Compress]");
    check("choice-inputs", "[ReduceMax@18, ReduceMin@18]", "[ReduceMax@18, ReduceMin@1]");
    check("choice-repeated", "[ReduceMax@18, ReduceMin@18]", "[ReduceMax@18, ReduceMax@18]");
    check("choice-empty", "[ReduceMax@18, ReduceMin@18]", "[]");
    check("choice-unbound", "rewrite { y = @op ", "rewrite { y = @opp ");
    check("choice-in-rewrite", "rewrite { y = @op ", "rewrite { y = @op in [ReduceMax, ReduceMin] ");
    check("choice-twice", "y = @op <keepdims = @k> (t", "y = @op in [ReduceMax] <keepdims = @k> (t");
}
