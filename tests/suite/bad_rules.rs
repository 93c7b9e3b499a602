//! Faults in each part of the rule language: the message names the fault, at the right position.

mod alternatives;

use std::sync::Arc;

use onnx_lint::diag::render::{Format, Look, Run, render};
use onnx_lint::graph::syntax::Source;
use onnx_lint::rules::registry::RuleSet;

/// A valid rule with a rewrite and examples.
const SOUND: &str = r#"## Two consecutive Transposes can be merged into one.
rule OPT101 double-transpose {
  severity  hint
  phase     simplify
  safety    exact
  message   "`{x}` is transposed twice, by `{t}` and `{y}`"
  help      "one Transpose with perm = {@r} gives the same value"
  match {
    t = Transpose <perm = @p> (x)
    y = Transpose <perm = @q> (t)
  }
  where { uses(t) == 1 }
  let @r = compose(@p, @q)
  rewrite { y = Transpose <perm = @r> (x) }
  example "composes" {
    g (float[A,B,C] x) => (float[C,A,B] y) { t = Transpose <perm=[1,2,0]> (x)  y = Transpose <perm=[1,2,0]> (t) }
  } rewrites_to { y = Transpose <perm=[2,0,1]> (x) }
  example "the first result is used too" {
    g (float[A,B] x) => (float[B,A] t, float[A,B] y) { t = Transpose <perm=[1,0]> (x)  y = Transpose <perm=[1,0]> (t) }
  } no_match
}
"#;

/// A rule that only reports, with several nodes and every kind of variable.
const LINT: &str = r#"## A Slice of a Concat.
rule OPT102 slice-of-concat {
  severity hint
  message "`{y}` is cut out of `{c}`, which has {count(pre)} values before it"
  match {
    c = Concat <axis = @a> (pre..., s, post...)
    y = Slice@10 (c, starts, ends, axes?, steps?)
  }
  where { @a == 0  is_const(starts)  is_present(axes) or rank(s) == 1 }
  example "at" at opset 13 {
    g (float[A] a, int64[1] b) => (float[B] y) { c = Concat <axis = 0> (a, a)  y = Slice (c, b, b, b) }
  } reports "`y` is cut out of `c`, which has 0 values before it"
  example "another axis" {
    g (float[A,B] a, int64[1] b) => (float[A,C] y) { c = Concat <axis = 1> (a, a)  y = Slice (c, b, b, b) }
  } reports nothing
}
"#;

/// Returns the rendered findings for a rule file.
fn rendered(text: &str) -> String {
    let findings = RuleSet::default().add([Source::new("my.rule", text)]);
    render(
        Run { files: &[Arc::from("my.rule")], findings: &findings, pages: &[], models: &[] },
        Format::Full,
        Look::default(),
    )
}

/// Returns a rule as a file, with the language version.
fn file(text: &str) -> String {
    if text.starts_with("language") { text.to_owned() } else { format!("language 3\n{text}") }
}

fn snapshot(name: &str, text: &str) {
    snapshot_as_it_is(name, &file(text));
}

fn snapshot_as_it_is(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/bad_rules"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, rendered(text)));
}

/// Replaces every `right` in `rule` by `wrong`, and compares the findings with a snapshot.
fn check_in(rule: &str, name: &str, right: &str, wrong: &str) {
    assert!(rule.contains(right), "{name}: the rule has no {right:?}");
    snapshot(name, &rule.replace(right, wrong));
}

fn check(name: &str, right: &str, wrong: &str) {
    check_in(SOUND, name, right, wrong);
}

fn check_lint(name: &str, right: &str, wrong: &str) {
    check_in(LINT, name, right, wrong);
}

#[test]
fn valid_rules_have_no_findings() {
    for rule in [SOUND, LINT, alternatives::CHOICE, alternatives::RULE] {
        let mut rules = RuleSet::default();
        assert_eq!(rules.add([Source::new("my.rule", &file(rule))]), []);
        assert_eq!(rules.iter().count(), 1);
    }
}

#[test]
fn example_variants_are_checked() {
    let check = |name: &str, but: &str| {
        check(name, "  example \"the first", &format!("  {but}\n  example \"the first"));
    };
    check("but-other-text", "but \"a\" with \"perm=[2\" as \"perm=[1\" no_match");
    check("but-nothing-other", "but \"a\" no_match");
    check("but-no-model", "but \"a\" with \"(x)\" as \"(x\" no_match");
    check("but-undefined", "but \"a\" with \"(t)\" as \"(u)\" no_match");
    check("but-no-input", "but \"a\" z: double no_match");
    check("but-no-type", "but \"a\" x: dubble no_match");
    check("but-no-node", "but \"a\" attr perm = [0, 1] of x no_match");
    check("but-no-operand", "but \"a\" without input t of t no_match");
    check("but-same-name", "but \"composes\" with \"A\" as \"D\" no_match");
    check_in(
        SOUND,
        "but-first",
        "example \"composes\"",
        "but \"a\" with \"A\" as \"B\" no_match\n  example \"composes\"",
    );
}

#[test]
fn rule_header_is_checked() {
    check("header-no-rule", "rule OPT101", "rul OPT101");
    check("header-code", "OPT101", "OPT1");
    check("header-name", "double-transpose", "double-Transpose");
    check("header-no-docs", "## Two", "# Two");
    check("header-not-closed", "  match {\n", "  match {\n    {\n");
}

#[test]
fn rule_entries_are_checked() {
    check("entry-unknown", "severity ", "sevrity ");
    check("entry-twice", "  severity  hint\n", "  severity  hint\n  severity  info\n");
    check("entry-missing", "  severity  hint\n", "");
    check("entry-order", "  match {", "  where { 1 == 1 }\n  match {");
    check("severity-unknown", "hint", "hnt");
    check("phase-unknown", "simplify", "explode");
    check("safety-unknown", "exact", "save");
    check("phase-missing", "  phase     simplify\n", "");
    check_lint("phase-without-rewrite", "severity hint", "severity hint\n  phase fix");
}

#[test]
fn messages_are_checked() {
    check("message-unclosed", "by `{t}`", "by `{t`");
    check("message-stray-brace", "by `{t}`", "by `t}`");
    check("message-unknown-value", "by `{t}`", "by `{tt}`");
    check("message-unknown-attribute", "{@r}", "{@rr}");
    check("message-unclosed-string", "the same value\"", "the same value");
    check("message-never-shown", "simplify", "explore");
    check("message-expression", "{@r}", "{len(@r) +}");
}

#[test]
fn operators_are_checked() {
    check("op-misspelt", "y = Transpose <perm = @q>", "y = Transpos <perm = @q>");
    check("op-other-domain", "y = Transpose <perm = @q>", "y = FusedMatMul <perm = @q>");
    check("op-domain", "y = Transpose <perm = @q>", "y = com.microsft.Gelu <perm = @q>");
    check_lint("op-epoch", "Slice@10", "Slice@11");
    check_lint("op-inputs", "(c, starts, ends, axes?, steps?)", "(c, starts)");
    check_lint("op-outputs", "y = Slice@10", "y, z = Slice@10");
}

/// Patterns are also checked against the schemas of PyTorch operators.
#[test]
fn operators_of_pytorch_are_checked() {
    let rule = |pattern: &str| {
        format!(
            "## Negative elements become 0.\nrule ATN999 aten-mine {{\n  phase lower\n  safety exact\n  match {{ {pattern} }}\n  rewrite {{ y = Relu (x) }}\n}}\n"
        )
    };
    snapshot("aten-inputs", &rule("y = aten.relu (x, z, w)"));
    snapshot("aten-misspelt", &rule("y = aten.rellu (x)"));
    snapshot("lower-onnx", &rule("y = Identity (x)"));
    snapshot("lower-both", &rule("y = aten.relu (x)").replace("rewrite {", "rewrite both {"));
    assert!(!rendered(&file(&rule("y = mylib.op (x)"))).contains("phase lower"), "a custom operator");
    snapshot("aten-attribute", &rule("y = aten.leaky_relu <negativ_slope = 0.0> (x)"));
}

#[test]
fn attributes_are_checked() {
    check("attribute-misspelt", "<perm = @q>", "<prem = @q>");
    check("attribute-twice", "<perm = @q>", "<perm = @q, perm = @q>");
    check("attribute-kind", "<perm = @q>", "<perm = \"q\">");
    check("attribute-computed", "<perm = @q>", "<perm = reverse(@q)>");
    check_lint("attribute-required", "<axis = @a>", "");
    check_lint("attribute-rewrite-only", "<axis = @a>", "<axis = >");
}

#[test]
fn patterns_are_checked() {
    check("pattern-empty", "    t = Transpose <perm = @p> (x)\n    y = Transpose <perm = @q> (t)\n", "");
    check("pattern-alias", "t = Transpose <perm = @p> (x)", "t = x");
    check("pattern-made-twice", "t = Transpose <perm = @p> (x)", "y = Transpose <perm = @p> (x)");
    check(
        "pattern-order",
        "    t = Transpose <perm = @p> (x)\n    y = Transpose <perm = @q> (t)",
        "    y = Transpose <perm = @q> (t)\n    t = Transpose <perm = @p> (x)",
    );
    check("pattern-unconnected", "<perm = @q> (t)", "<perm = @q> (x)");
    check("pattern-counted-output", "t = Transpose <perm = @p>", "t? = Transpose <perm = @p>");
    check(
        "pattern-goes-on",
        "(x)\n    y = Transpose <perm = @q> (t)",
        "(x\n    y = Transpos <perm = @q> (t)",
    );
    check_lint("pattern-counts", "(c, starts, ends", "(c, pre, ends");
}

#[test]
fn conditions_are_checked() {
    check("where-function", "uses(t)", "use(t)");
    check("where-arguments", "uses(t)", "uses(t, 1)");
    check("where-no-condition", "uses(t) == 1", "uses(t)");
    check("where-bare-value", "uses(t) == 1", "t == 1");
    check("where-not-a-value", "uses(t)", "uses(@p)");
    check("where-unbound", "uses(t) == 1", "len(@pp) == 1");
    check("where-bound-below", "uses(t) == 1", "len(@r) == 1");
    check("where-unknown-value", "uses(t)", "uses(tt)");
    check("where-syntax", "uses(t) == 1", "uses(t) == ");
    check("where-origin-of-equal", "uses(t) == 1", "is_like(module_path(t), \"/encoder/**\")");
    check_lint("where-form-not-written", "rank(s) == 1", "is_like(module_path(s), node_name(s))");
    check_lint("where-bad-form", "rank(s) == 1", "is_like(node_name(s), \"/layers.[0\")");
    check("where-only-in-patterns", "uses(t) == 1", "@p == _");
    check_lint("where-many-values", "rank(s) == 1", "rank(pre) == 1");
}

#[test]
fn bindings_are_checked() {
    check("let-twice", "let @r", "let @p");
    check("let-unused", "let @r = compose(@p, @q)", "let @r = compose(@p, @q)\n  let @s = 1");
    check_lint("attribute-unused", "@a == 0  ", "");
}

#[test]
fn rewrites_are_checked() {
    check("rewrite-no-output", "rewrite { y =", "rewrite { z =");
    check("rewrite-from-outside", "rewrite { y =", "rewrite { y = x  x =");
    check("rewrite-unknown-value", "<perm = @r> (x)", "<perm = @r> (xx)");
    check("rewrite-later", "<perm = @r> (x)", "<perm = @r> (u)  u = Relu (x)");
    check("rewrite-twice", "<perm = @r> (x)", "<perm = @r> (x)  y = x");
    check("rewrite-from-itself", "<perm = @r> (x)", "<perm = @r> (y)");
    check(
        "rewrite-cycle",
        "rewrite { y = Transpose <perm = @r> (x)",
        "rewrite { u = Relu (y)  y = Transpose <perm = @r> (u)",
    );
    check("rewrite-rest", "<perm = @r>", "<perm = @r, ..>");
    check("rewrite-any", "<perm = @r>", "<perm = _>");
    check("rewrite-attribute", "<perm = @r>", "<axis = @r>");
    let reports = |line: &&str| line.starts_with("  message") || line.starts_with("  help");
    let silent = |rule: &str| -> String {
        rule.replace("simplify", "explore").split_inclusive('\n').filter(|line| !reports(line)).collect()
    };
    check_in(&silent(SOUND), "rewrite-both-let", "rewrite {", "rewrite both {");
    let plain = SOUND.replace("  let @r = compose(@p, @q)\n", "").replace("{@r}", "{@q}");
    let plain = plain.replace("<perm = @r> (x)", "<perm = @p> (x)").replace("  where { uses(t) == 1 }\n", "");
    check_in(&plain, "rewrite-both-simplify", "rewrite {", "rewrite both {");
    check_in(&silent(&plain), "rewrite-both-one-sided", "rewrite {", "rewrite both {");
}

#[test]
fn examples_are_checked() {
    check("example-none-fires", "} rewrites_to { y = Transpose <perm=[2,0,1]> (x) }", "} no_match");
    check("example-none-silent", "} no_match", "} rewrites_to { y = Identity (x) }");
    check("example-undefined", "<perm=[1,2,0]> (x)", "<perm=[1,2,0]> (xx)");
    check("example-name", "\"the first result is used too\"", "\"composes\"");
    check("example-opset", "example \"composes\" {", "example \"composes\" from 11 to 99 {");
    check("example-expects", "} no_match", "} stays");
    check("example-graph", "g (float[A,B] x)", "g (flat[A,B] x)");
    check_lint("example-reports", "reports nothing", "reports none");
}

#[test]
fn analyses_are_checked() {
    check_lint("detect-unknown", "  where {", "  detect builtin::no_such_analysis\n  where {");
    check_lint("detect-syntax", "  where {", "  detect no_such_analysis\n  where {");
}

/// A file without a language version is still read.
#[test]
fn file_without_language_version_is_checked_and_reported() {
    snapshot_as_it_is("language-missing", SOUND);
    let mut rules = RuleSet::default();
    rules.add([Source::new("my.rule", SOUND)]);
    assert_eq!(rules.iter().count(), 1);
}

/// A conversion with functions, cases and other features of language 3.
const SECOND: &str = r#"language 3
defaults { phase convert  safety rounding  at 9 }

fn softcapped(s, @cap) = case {
  @cap == 0.0: s
  else: Mul (Tanh (Div (s, @cap)), @cap)
}

fn masked(s, mask?) {
  let @type = dtype(s)
  low = Cast <to = @type> (mask?)
  case { is_present(mask): Add (s, low)  else: s }
}

## Attention of one head.
rule ZZZ100 attention-of-one-head {
  match { y, k?, parts... = com.example.Attention <cap = @cap> (q, mask?, Transpose <perm = [1, 0]> (t), 1.0) }
  where { rank(q) == 2 }
  assume finite(q)
  rewrite {
    let @two = 2
    y = softcapped(masked(MatMul (q, t), mask?), @cap)
    k = Relu (q)
    parts... = [Mul (q, @i + @two) for @i, p in parts]
  }
  example "one" from 13 to 12 { g (float[A,B] x) => (float[A,B] y) { y = Relu (x) } } equivalent
}
"#;

#[test]
fn files_and_functions_are_checked() {
    let mut rules = RuleSet::default();
    assert_eq!(rules.add([Source::new("my.rule", SECOND)]), []);
    let check = |name: &str, right: &str, wrong: &str| check_in(SECOND, name, right, wrong);
    check("language-unknown", "language 3", "language 4");
    check("language-previous", "language 3", "language 2");
    check("language-old-outcome", "} equivalent", "} computes");
    check("language-old-entry", "assume finite(q)", "given finite(q)");
    check("language-old-assumption", "assume finite(q)", "assume moderate(q)");
    check("language-not-first", "rounding  at 9 }", "rounding  at 9 }\nfn f(x) = x\nlanguage 2");
    check("defaults-unknown", "safety rounding", "saftey rounding");
    check("defaults-of-one", "safety rounding", "message \"m\"");
    check("at-unknown", "at 9", "at 99");
    check("since-unknown", "at 9 }", "at 9  since 99 }");
    check("function-name-of-operator", "fn masked", "fn Masked");
    check("function-name-taken", "fn masked", "fn reverse");
    check("function-twice", "fn masked(s, mask?)", "fn softcapped(s, mask?)");
    check("function-of-itself", "Mul (Tanh (Div (s, @cap)), @cap)", "softcapped(s, @cap)");
    check("function-fault", "Tanh (Div (s, @cap))", "Tanh (Div (z, @cap))");
    check("function-misspelt", "y = softcapped(", "y = softcaped(");
    check("function-arguments", "mask?), @cap)", "mask?), @cap, q)");
    check(
        "function-attributes",
        "y = softcapped(masked(MatMul (q, t), mask?), @cap)",
        "y = softcapped <cap = @cap> (q)",
    );
    check("function-wants-attribute", "mask?), @cap)", "mask?), q)");
    check("function-wants-one", "masked(MatMul (q, t), mask?)", "masked(mask?, mask?)");
    check("function-not-closed", "  case { is_present(mask): Add (s, low)  else: s }\n}", "");
    check("case-without-else", "is_present(mask): Add (s, low)  else: s", "is_present(mask): Add (s, low)");
    check("case-no-condition", "@cap == 0.0: s", "@cap + 1.0: s");
    check("each-without-for", " for @i, p in parts]", "]");
    check("each-unknown", "in parts]", "in prts]");
    check("made-of-many", "parts... = [Mul", "parts = [Mul");
    check("made-of-perhaps-none", "k = Relu (q)", "h = case { rank(q) == 2: q  else: \"\" }  k = Relu (h)");
    check("made-of-unknown-many", "k = Relu (q)", "more... = Split (q)  k = Relu (q)");
    check("several-of-a-name", "k = Relu (q)", "k, l = q");
    check("assume-unknown", "assume finite(q)", "assume finit(q)");
    check("assume-no-value", "assume finite(q)", "assume finite(z)");
    check("pattern-function", "Transpose <perm = [1, 0]> (t)", "softcapped(t)");
    check("pattern-case", "Transpose <perm = [1, 0]> (t)", "case { rank(q) == 2: q  else: t }");
    check("pattern-computed", "(t), 1.0)", "(t), [rank(q)])");
    check("pattern-let", "match { y", "match { let @z = 1  y");
    check("each-from-itself", "[Mul (q, ", "[Mul (p, ");
    check("let-misspelt", "@i + @two", "@i + @too");
}

#[test]
fn codes_and_names_of_rules_are_unique() {
    snapshot("rules-same-code", &format!("{SOUND}\n{}", SOUND.replace("double-transpose", "another-name")));
    snapshot("rules-same-name", &format!("{SOUND}\n{}", SOUND.replace("OPT101", "OPT102")));
    let broken =
        SOUND.replace("  where { uses(t) == 1 }", "  where { uses(t == 1 }").replace("OPT101", "OPT100");
    snapshot("rules-go-on", &format!("{broken}\n{}", SOUND.replace("safety    exact", "safety    sure")));
}
