//! Custom rules: `--test-rules` and `ONNX_LINT_RULES`.

use std::ffi::OsStr;

use crate::tool::Sandbox;

#[test]
fn test_rules_tests_the_examples_of_the_selected_rules() {
    let rule = |second: &str| {
        format!(
            "language 3\ndefaults {{ severity hint  phase simplify  safety exact }}\n\n## Negated twice.\n\
             rule ZZZ100 negated-twice {{\n  message \"`{{x}}` is negated twice\"\n  match {{ y = Neg (Neg (x)) }}\n  \
             rewrite {{ y = {second} }}\n  \
             example \"twice\" {{ g (float[A] x) => (float[A] y) {{ t = Neg (x)  y = Neg (t) }} }} equivalent\n  \
             example \"once\" {{ g (float[A] x) => (float[A] y) {{ t = Abs (x)  y = Neg (t) }} }} no_match\n}}\n"
        )
    };
    let sandbox = Sandbox::new(&[]);
    sandbox.write("right/my.rule", rule("x"));
    sandbox.write("wrong/my.rule", rule("Abs (x)"));
    sandbox.write("none/readme.txt", "no rules");
    let right = sandbox.lint(&["--test-rules", "right"]);
    assert_eq!(right.status, 0, "{right:?}");
    assert!(right.stdout.starts_with("2 of 2 examples of 1 rule hold ("), "{right:?}");
    let wrong = sandbox.lint(&["--test-rules", "wrong"]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    assert!(wrong.stdout.contains("the example \"twice\" does not hold: element 0 is "), "{wrong:?}");
    assert!(wrong.stdout.contains("wrong/my.rule:9"), "{wrong:?}");
    let other = rule("Abs (x)").replacen("} equivalent", "} rewrites_to { y = Identity (x) }", 1);
    sandbox.write("other/my.rule", other);
    let other = sandbox.lint(&["--test-rules", "other"]);
    assert!(other.stdout.contains("= note: expected: v0.0 = Identity <> (x); return v0.0\n"), "{other:?}");
    let ignored = sandbox.lint(&["--test-rules", "right", "--ignore", "negated-twice"]);
    assert_eq!((ignored.status, &*ignored.stderr), (2, "error: --test-rules: there is no example to run\n"));
    let selected = sandbox.lint(&["--test-rules", "right", "--select", "ZZZ1"]);
    assert!(selected.stdout.starts_with("2 of 2 examples of 1 rule hold ("), "{selected:?}");
    let none = sandbox.lint(&["--test-rules", "none"]);
    assert_eq!(
        (none.status, &*none.stderr),
        (2, "error: none: --test-rules: the folder has no .rule file\n")
    );
}

#[test]
fn onnx_lint_rules_replaces_the_directory_of_built_in_rules() {
    let sandbox = Sandbox::new(&[]);
    let list = |folder: &str| {
        sandbox.lint_with(&["--isolated", "--list-rules"], &[("ONNX_LINT_RULES", OsStr::new(folder))])
    };
    let listed = list(concat!(env!("CARGO_MANIFEST_DIR"), "/rules"));
    assert!(listed.status == 0 && listed.stdout.contains("double-transpose"), "{listed:?}");
    let refused = list("missing");
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.starts_with("error: ONNX_LINT_RULES: missing: "), "{refused:?}");
}

#[test]
fn a_built_in_rule_with_a_fault_fails_the_run() {
    let rule = "language 3\ndefaults { severity hint  phase simplify  safety exact }\n\n## Removes one of two Relu.\n\
        rule ZZZ001 relu-twice {\n  message \"`{y}` is redundant\"\n  help \"use `{x}`\"\n\
        match { x = Relu (a)  y = Relu (x) }\n  rewrite Rlu (a)\n}\n";
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        g (float[N] a) => (float[N] y) { x = Relu (a)  y = Relu (x) }\n";
    let sandbox = Sandbox::new(&[("rules/relu.rule", rule), ("net.onnxtxt", model)]);
    let folder = sandbox.path("rules");
    let lint =
        || sandbox.lint_with(&["--isolated", "net.onnxtxt"], &[("ONNX_LINT_RULES", folder.as_os_str())]);
    let failed = lint();
    assert_eq!(failed.status, 2, "{failed:?}");
    assert!(failed.stderr.contains("`ai.onnx` has no operator `Rlu`"), "{failed:?}");
    assert!(failed.stderr.ends_with("error: the rules have 3 faults\n"), "{failed:?}");
    sandbox.write("rules/relu.rule", rule.replace("Rlu (a)", "x"));
    assert_eq!(lint().status, 0);
}

/// Deviations and crashes of ONNX Runtime in some examples are not faults of a rule.
/// ONNX Runtime deviates from the specification for Attention of doubles and for infinities in a mask.
/// ONNX Runtime aborts on invalid input, such as a Fourier transform of length 0.
#[test]
fn deviations_of_onnx_runtime_do_not_fail_a_rule_test() {
    let sandbox = Sandbox::new(&[]);
    for name in ["attention.rule", "fourier.rule"] {
        sandbox.bring(&format!("rules/decompose/{name}"), &format!("own/{name}"));
    }
    let ran = sandbox.lint(&["--test-rules", "own"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{ran:?}");
}

#[test]
fn examples_may_use_custom_targets() {
    let rule = "language 3\n\n## No Relu.\nrule ZZZ101 no-relu {\n  phase convert  safety exact\n  \
                message \"`{x}` is kept above zero\"\n  match { y = Relu (x) }\n  \
                where { dtype(x) == float }\n  rewrite { y = Clip (x, 0.0, \"\") }\n  \
                example \"none\" at opset 17 for toy { g (float[A] x) => (float[A] y) { y = Relu (x) } } equivalent\n  \
                but \"doubles\" with \"float[A]\" as \"double[A]\" no_match\n}\n";
    let toy = "target toy {\n  title \"Toy\"\n  version 1 { documented \"its manual\" on \"2026-11-22\" {\n    \
               opset 7..=18  ir ..=9\n    op Clip, Identity\n    nothing else\n  } }\n}\n";
    let sandbox = Sandbox::new(&[("own/my.rule", rule), ("devices/toy.target", toy)]);
    let unknown = sandbox.lint(&["--test-rules", "own"]);
    assert_eq!(unknown.status, 1, "{unknown:?}");
    assert!(unknown.stdout.contains("toy"), "{unknown:?}");
    let known = sandbox.lint(&["--test-rules", "own", "--targets", "devices"]);
    assert_eq!(known.status, 0, "{known:?}");
}

#[test]
fn rules_apply_since_their_opset() {
    let rule = "language 3\ndefaults { severity hint  phase simplify  safety exact  since 18 }\n\n## Negated twice.\n\
                rule ZZZ102 negated-twice {\n  message \"`{x}` is negated twice\"\n  match { y = Neg (Neg (x)) }\n  \
                rewrite { y = Identity (x) }\n  \
                example \"twice\" { g (float[A] x) => (float[A] y) { t = Neg (x)  y = Neg (t) } } equivalent\n  \
                but \"once\" with \"Neg (t)\" as \"Abs (t)\" no_match\n}\n";
    let model = |opset: i64| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : {opset}]>\n\
             g (float[A] x) => (float[A] y) {{ t = Neg (x)  y = Neg (t) }}\n"
        )
    };
    let sandbox =
        Sandbox::new(&[("own/my.rule", rule), ("a17.onnxtxt", &model(17)), ("a18.onnxtxt", &model(18))]);
    let applies = |model: &str, more: &[&str]| {
        let mut arguments = vec![model, "--rules", "own", "--select", "ZZZ", "-o", "out.onnx"];
        arguments.extend(more);
        let ran = sandbox.fix(&arguments);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stderr.contains("negated-twice")
    };
    assert!(!applies("a17.onnxtxt", &[]));
    assert!(applies("a17.onnxtxt", &["--target", "onnxruntime"]));
    assert!(applies("a18.onnxtxt", &[]));
}
