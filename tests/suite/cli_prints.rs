//! Output of the tools other than findings: summaries, tables, colors, notes, and errors about options.

use std::ffi::OsStr;

use crate::tool::{CLUMSY, Ran, SOUND, Sandbox, snapshot};

/// A model with constant, equal, dead and redundant nodes, and an unused initializer.
const MIXED: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y, float[N,4] z) <float[2] unused = {1,2}> {\n  \
    one = Constant <value = float[4] {1,2,3,4}> ()\n  two = Constant <value = float[4] {4,3,2,1}> ()\n  \
    sum = Add (one, two)\n  a = Add (x, sum)\n  b = Add (x, sum)\n  dead = Exp (b)\n  \
    t = Transpose <perm = [1, 0]> (a)\n  u = Transpose <perm = [1, 0]> (t)\n  r = Relu (u)\n  \
    i = Identity (b)\n  y = Mul (r, i)\n  z = HardSwish (x)\n}\n";

/// A model with an operator that no evaluator supports.
const OPAQUE: &str = "<ir_version: 8, opset_import: [\"\" : 17, \"com.acme\" : 1]>\n\
    main (float[3] x) => (float[3] y) {\n  y = com.acme.Swish (x)\n}\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&[
        ("mixed.onnxtxt", MIXED),
        ("clumsy.onnxtxt", CLUMSY),
        ("sound.onnxtxt", SOUND),
        ("opaque.onnxtxt", OPAQUE),
        ("other.onnxtxt", &OPAQUE.replace("(x)\n}", "(x)\n  n = Neg (x)\n}")),
    ]);
    sandbox.bring("tests/models/torch-exports/hf_bert.ts17.onnx", "bert.onnx");
    sandbox
}

fn has_colors(text: &str) -> bool {
    text.contains('\u{1b}')
}

#[track_caller]
fn check(ran: &Ran, status: i32) {
    assert_eq!(ran.status, status, "{ran:?}");
}

#[test]
fn summary_lists_each_rule_with_its_code_by_kind() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["mixed.onnxtxt", "--check"]);
    check(&ran, 1);
    snapshot("prints", "summary", &ran.stderr);
    let ran = sandbox.fix(&["mixed.onnxtxt", "--opset", "11", "--check", "--table", "always"]);
    check(&ran, 1);
    snapshot("prints", "table", &ran.stderr);
    let ran = sandbox.fix(&["bert.onnx", "--opset", "11", "-o", "out.onnx"]);
    check(&ran, 0);
    snapshot("prints", "bert", &ran.stderr);
}

/// A printed code of a rule can be passed to `--ignore`.
/// Changes that a valid result requires cannot be ignored.
#[test]
fn printed_codes_can_be_ignored() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--check"]);
    let code = ran.stderr.split_whitespace().find(|word| word.starts_with("OPT")).expect("a code").to_owned();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--check", "--ignore", &code]);
    assert!(!ran.stderr.contains(&code), "{code}: {ran:?}");
    let pass = sandbox.fix(&["mixed.onnxtxt", "--check", "--ignore", "OPT001"]);
    let note = "note: ignored, but required by other changes: OPT001 (pass rewrite)\n";
    assert!(pass.stderr.ends_with(note), "{pass:?}");
    for name in ["CVT004", "relabelled-version"] {
        let refused = sandbox.fix(&["mixed.onnxtxt", "--check", "--ignore", name]);
        check(&refused, 2);
        let error = "--ignore: `CVT004` cannot be ignored: a valid result, or another option, requires these changes\n";
        assert!(refused.stderr.ends_with(error), "{refused:?}");
    }
    check(&sandbox.fix(&["mixed.onnxtxt", "--opset", "13", "--ignore", "CVT", "-o", "out.onnx"]), 0);
}

#[test]
fn limits_are_printed_with_verbose_and_always_reported() {
    let sandbox = sandbox();
    let convert = ["bert.onnx", "--opset", "11", "-o", "out.onnx", "--report", "report.json"];
    let brief = sandbox.fix(&convert);
    check(&brief, 0);
    assert!(!brief.stderr.contains("limit"), "{}", brief.stderr);
    let report: serde_json::Value = serde_json::from_slice(&sandbox.read("report.json")).expect("JSON");
    let limits: Vec<&str> =
        report["limits"].as_array().into_iter().flatten().filter_map(|it| it.as_str()).collect();
    assert!(!limits.is_empty());
    for option in ["--verbose", "-v"] {
        let verbose = sandbox.fix(&[&convert[..], &[option]].concat());
        for limit in &limits {
            assert!(verbose.stderr.contains(&format!("note: {limit}\n")), "{}", verbose.stderr);
        }
        assert!(!verbose.stderr.contains('…'), "verbose output is not abbreviated: {}", verbose.stderr);
    }
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check", "-q", "-v"]), 2);
}

#[test]
fn report_has_kinds_operators_and_sizes() {
    let sandbox = sandbox();
    check(&sandbox.fix(&["clumsy.onnxtxt", "--report", "report.json"]), 0);
    let report: serde_json::Value = serde_json::from_slice(&sandbox.read("report.json")).expect("JSON");
    let change = &report["changes"][0];
    assert_eq!(
        (change["kind"].as_str(), change["op"].as_str()),
        (Some("removed"), Some("Transpose")),
        "{change}"
    );
    let count = |what: &str, when: &str| report[what][when].as_u64();
    assert_eq!((count("initializers", "before"), count("initializers", "after")), (Some(0), Some(0)));
    assert!(count("bytes", "after") < count("bytes", "before"), "{report}");
}

#[test]
fn diff_is_colored_with_colors() {
    let sandbox = sandbox();
    let plain = sandbox.fix(&["clumsy.onnxtxt", "--diff", "-q"]);
    assert!(!has_colors(&plain.stdout), "{plain:?}");
    let colored = sandbox.fix(&["clumsy.onnxtxt", "--diff", "-q", "--color", "always"]);
    for style in ["\u{1b}[31m-  t = Transpose", "\u{1b}[32m+  y = Relu", "\u{1b}[36m@@"] {
        assert!(colored.stdout.contains(style), "{style:?}: {:?}", colored.stdout);
    }
}

#[test]
fn color_follows_option_and_environment() {
    let sandbox = sandbox();
    let fix = ["clumsy.onnxtxt", "--diff"];
    let diff = ["clumsy.onnxtxt", "sound.onnxtxt"];
    let colored = |arguments: &[&str], environment: &[(&str, &str)]| {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| (*name, OsStr::new(value))).collect();
        let fixed = sandbox.fix_with(&[&fix, arguments].concat(), &environment);
        let compared = sandbox.diff_with(&[&diff, arguments].concat(), &environment);
        let colored = [has_colors(&fixed.stdout), has_colors(&fixed.stderr), has_colors(&compared.stdout)];
        assert!(colored.iter().all(|it| *it == colored[0]), "{colored:?}: {fixed:?} {compared:?}");
        colored[0]
    };
    assert!(!colored(&[], &[]), "a pipe has no colors");
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    sandbox.diff(&["clumsy.onnxtxt", "sound.onnxtxt", "-o", "verdict.txt"]);
    assert!(!has_colors(&String::from_utf8_lossy(&sandbox.read("verdict.txt"))));
}

#[test]
fn options_of_another_tool_are_answered_with_the_command_to_run() {
    let sandbox = sandbox();
    let lint = sandbox.lint(&["--fix", "clumsy.onnxtxt"]);
    check(&lint, 2);
    snapshot("prints", "lint-fix", &lint.stderr);
    let fix = sandbox.fix(&["clumsy.onnxtxt", "--lint"]);
    check(&fix, 2);
    snapshot("prints", "fix-lint", &fix.stderr);
    let unknown = sandbox.lint(&["--nonsense"]);
    check(&unknown, 2);
    assert!(unknown.stderr.contains("unexpected argument '--nonsense'"), "{unknown:?}");
}

#[test]
fn unsupported_operators_are_named_without_debug_output() {
    let none = [("ORT_DYLIB_PATH", OsStr::new("/nowhere"))];
    let ran = sandbox().diff_with(&["opaque.onnxtxt", "other.onnxtxt", "--run"], &none);
    let why = "the built-in evaluator cannot run the models: the evaluator does not support `com.acme.Swish`";
    assert!(ran.stdout.contains(why), "{ran:?}");
}

#[test]
fn inputs_of_a_failed_example_are_onnx_text() {
    let rule = "language 2\ndefaults { severity hint  phase simplify  safety exact }\n\n## Negated twice.\n\
        rule ZZZ100 negated-twice {\n  message \"`{x}` is negated twice\"\n  match { y = Neg (Neg (x)) }\n  \
        rewrite { y = Abs (x) }\n  \
        example \"twice\" { g (float[1] x) => (float[1] y) { t = Neg (x)  y = Neg (t) } } computes\n  \
        example \"silent\" { g (float[1] x) => (float[1] y) { y = Neg (x) } } finds \"negated\"\n  \
        example \"once\" { g (float[A] x) => (float[A] y) { t = Abs (x)  y = Neg (t) } } unchanged\n}\n";
    let sandbox = Sandbox::new(&[]);
    sandbox.write("own/my.rule", rule);
    let ran = sandbox.lint(&["--test-rules", "own"]);
    check(&ran, 1);
    assert!(ran.stdout.contains(" inputs: x = float[1] {-"), "{}", ran.stdout);
    assert!(ran.stdout.contains("expected \"negated\", found nothing"), "{}", ran.stdout);
}
