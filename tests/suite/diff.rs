//! `onnx-diff`: proofs of equivalence, descriptions of differences, and no false equivalences.

use std::sync::LazyLock;

use onnx_lint::diag::Selection;
use onnx_lint::diff::{Equivalence, compare};
use onnx_lint::{FixOptions, Model, RuleSet, read};

use crate::tool::{PITFALLS, Ran, Sandbox, snapshot};

const NET: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y)\n<float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float[4] b = {1,2,3,4}> {\n  \
    h = MatMul (x, w)\n  s = Add (h, b)\n  r = Relu (s)\n  n = Neg (x)\n  y = Add (r, n)\n}\n";

/// A loop that accumulates its input, and a branch.
const BODIES: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[4] x, bool c, int64 n) => (float[4] y, float[4] z) {\n  \
    y = Loop (n, c, x) <body = body (int64 i, bool go, float[4] a) => (bool go2, float[4] t) {\n    \
    go2 = Identity (go)\n    t = Add (a, x)\n  }>\n  \
    z = If (c) <then_branch = one () => (float[4] p) { p = Relu (x) }, else_branch = two () => (float[4] q) { q = Neg (x) }>\n}\n";

/// A model with an unknown operator and a random one.
const OPAQUE: &str = "<ir_version: 8, opset_import: [\"\" : 17, \"acme\" : 1]>\n\
    main (float[3] x) => (float[3] y, float[3] z) {\n  a = acme.Magic <k = 2> (x)\n  y = Relu (a)\n  \
    r = RandomNormal <shape = [3]> ()\n  q = RandomNormal <shape = [3]> ()\n  z = Sub (r, q)\n}\n";

/// Compares a model with a copy that has some text replaced.
fn diff(model: &str, replaced: &[(&str, &str)], options: &[&str]) -> Ran {
    let other = replaced.iter().fold(model.to_owned(), |text, (from, to)| text.replace(from, to));
    let sandbox = Sandbox::new(&[("a.onnxtxt", model), ("b.onnxtxt", &other)]);
    sandbox.diff(&[&["a.onnxtxt", "b.onnxtxt"], options].concat())
}

/// All rules, loaded once for all tests.
static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

/// Returns a model, and a copy that has some text replaced.
fn pair(model: &str, replaced: &[(&str, &str)]) -> [Model; 2] {
    let mut other = model.to_owned();
    for (from, to) in replaced {
        assert!(other.contains(from), "the model does not contain {from}");
        other = other.replace(from, to);
    }
    [model, &other].map(|text| {
        let (model, findings) = read::text::read(text);
        assert_eq!(findings, [], "{text}");
        model.expect("a model")
    })
}

#[track_caller]
fn check(model: &str, replaced: &[(&str, &str)], expected: Equivalence) {
    let [a, b] = pair(model, replaced);
    let comparison = compare(&a, &b, &RULES);
    assert_eq!(comparison.computes, expected, "{replaced:?}: {comparison:#?}");
}

#[track_caller]
fn check_told(name: &str, model: &str, replaced: &[(&str, &str)], status: i32) {
    let ran = diff(model, replaced, &[]);
    assert_eq!((ran.status, &*ran.stderr), (status, ""), "{ran:?}");
    snapshot("diff", name, &ran.stdout);
}

#[test]
fn equivalent_models_are_proved_equal() {
    check(NET, &[], Equivalence::Same);
    check(BODIES, &[], Equivalence::Same);
    check(OPAQUE, &[], Equivalence::Same);
    check(NET, &[("h = ", "hidden = "), ("(h, b)", "(hidden, b)")], Equivalence::Renamed);
    check(NET, &[("w = {", "weight = {"), ("(x, w)", "(x, weight)")], Equivalence::Renamed);
    check(NET, &[("  n = Neg (x)\n", ""), ("  h =", "  n = Neg (x)\n  h =")], Equivalence::Renamed);
    check(NET, &[("main (float[N,4] x)", "main (float[batch,4] x)")], Equivalence::Same);
    check(
        BODIES,
        &[
            ("t = Add", "sum = Add"),
            ("float[4] t)", "float[4] sum)"),
            ("float[4] p)", "float[4] u)"),
            ("p = R", "u = R"),
        ],
        Equivalence::Renamed,
    );
    check(NET, &[("r = Relu (s)", "i = Identity (s)\n  r = Relu (i)")], Equivalence::Exactly);
    check(
        NET,
        &[(
            "r = Relu (s)",
            "t = Transpose <perm = [1, 0]> (s)\n  u = Transpose <perm = [1, 0]> (t)\n  r = Relu (u)",
        )],
        Equivalence::Exactly,
    );
}

/// Models are only reported as identical if their dead nodes are equal, too.
#[test]
fn dead_nodes_are_compared() {
    let dead = NET.replace("  y = Add", "  dead = Neg (r)\n  y = Add");
    check(&dead, &[], Equivalence::Same);
    check(&dead, &[("dead = Neg (r)", "dead = Neg (h)")], Equivalence::Exactly);
    check(&dead, &[("  dead = Neg (r)\n", "")], Equivalence::Exactly);
}

/// The version of an imported but unused domain does not matter.
#[test]
fn unused_opset_imports_are_ignored() {
    let ml = "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]>\nmain (float[3] x) => (float[3] y) { y = Relu (x) }\n";
    check(ml, &[("\"ai.onnx.ml\" : 3", "\"ai.onnx.ml\" : 1")], Equivalence::Same);
}

#[test]
fn different_models_are_never_reported_equal() {
    check(NET, &[("r = Relu (s)", "r = Sigmoid (s)")], Equivalence::Unknown);
    check(NET, &[("15,16}", "15,17}")], Equivalence::Unknown);
    check(NET, &[("Add (h, b)", "Sub (h, b)")], Equivalence::Unknown);
    check(NET, &[("y = Add (r, n)", "y = Sub (n, r)")], Equivalence::Unknown);
    check(BODIES, &[("t = Add (a, x)", "t = Mul (a, x)")], Equivalence::Unknown);
    check(BODIES, &[("t = Add (a, x)", "t = Add (a, a)")], Equivalence::Unknown);
    check(BODIES, &[("p = Relu", "p = Abs")], Equivalence::Unknown);
    check(
        BODIES,
        &[("then_branch", "other"), ("else_branch", "then_branch"), ("other", "else_branch")],
        Equivalence::Unknown,
    );
    check(OPAQUE, &[("k = 2", "k = 3")], Equivalence::Unknown);
    check(OPAQUE, &[("Sub (r, q)", "Sub (r, r)")], Equivalence::Unknown);
}

#[test]
fn differences_of_the_interface_are_reported() {
    for (from, to, difference) in [
        ("(float[N,4] x)", "(float[2,4] x)", "input `float[N,4] x` is declared as `float[2,4] x` in b"),
        ("(float[N,4] x)", "(double[N,4] x)", "input `float[N,4] x` is declared as `double[N,4] x` in b"),
        ("(float[N,4] x)", "(float[N,4] x, float[3] more)", "input `more` is missing in a"),
        ("(float[N,4] y)", "(float[N,4] y, float[N,4] r)", "output `r` is missing in a"),
    ] {
        let ran = diff(NET, &[(from, to)], &[]);
        assert!(
            ran.status == 1 && ran.stdout.contains(&format!("interface: {difference}\n")),
            "{to}: {ran:?}"
        );
    }
    let square = NET.replace("[N,4] x", "[N,N] x");
    let ran = diff(&square, &[("[N,N] x", "[N,M] x")], &[]);
    assert!(ran.stdout.contains("dimension `N` of a corresponds to two names in b"), "{ran:?}");
}

/// Names of inputs, outputs and dimensions, and declared sizes of outputs, do not affect results.
#[test]
fn names_of_the_interface_are_notes() {
    let renamed = [("4] x)", "4] image)"), ("(x, w)", "(image, w)"), ("(x)", "(image)")];
    for (replaced, note) in [
        (renamed.as_slice(), "input `x` is paired with `image` of b, by position"),
        (
            &[("4] y)", "4] out)"), ("y = Add", "out = Add")],
            "output `y` is paired with `out` of b, by position",
        ),
        (&[("[N,4] x", "[s0,4] x")], "dimension `N` is named `s0` in b"),
        (&[("[N,4] y", "[2,4] y")], "output `float[N,4] y` is declared as `float[2,4] y` in b"),
    ] {
        let ran = diff(NET, replaced, &[]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains(&format!("note: {note}\n")), "{note}: {ran:?}");
    }
    let ran = diff(&NET.replace("[N,4] y", "[3,4] y"), &[("[3,4] y", "[2,4] y")], &[]);
    assert!(
        ran.status == 1 && ran.stdout.contains("interface: output `float[3,4] y` is declared"),
        "{ran:?}"
    );
}

/// Sizes are compared across two inputs, whose dimensions have other names in the second model.
#[test]
fn dimensions_with_other_names_are_one_size() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[N,4] x, float[N,2,2] z) => (float[N,4] y) {\n  s = Shape (x)\n  r = Reshape (z, s)\n  \
        y = Add (x, r)\n}\n";
    let dims = [("float[N,4] x", "float[batch,4] x"), ("float[N,2,2] z", "float[batch,2,2] z")];
    let by_other = [("Shape (x)", "Constant <value = int64[2] {-1,4}> ()")];
    check(model, &[dims.as_slice(), &by_other].concat(), Equivalence::Exactly);
    let swapped = [("Shape (x)", "Constant <value = int64[2] {4,-1}> ()")];
    check(model, &[dims.as_slice(), &swapped].concat(), Equivalence::Unknown);
}

#[test]
fn differences_are_described() {
    check_told("weight", NET, &[("15,16}", "15,17}")], 1);
    check_told(
        "attribute",
        "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[N,4] x) => (float[N,4] y, float[N,4] z) {\n  s = Softmax <axis = 1> (x)\n  y = Relu (s)\n  z = Neg (x)\n}\n",
        &[("axis = 1", "axis = 0")],
        1,
    );
    check_told("operator", NET, &[("r = Relu (s)", "r = Sigmoid (s)")], 1);
    check_told("body", BODIES, &[("t = Add (a, x)", "t = Mul (a, x)")], 1);
    check_told("interface", NET, &[("(float[N,4] x)", "(float[2,4] x)")], 1);
    check_told("renamed", NET, &[("h = ", "hidden = "), ("(h, b)", "(hidden, b)")], 0);
    check_told("metadata", OPAQUE, &[("ir_version: 8,", "ir_version: 9, producer_name: \"torch\",")], 0);
    check_told("domain", OPAQUE, &[("\"acme\" : 1", "\"acme\" : 2")], 1);
}

/// `onnx-diff` proves that fixed and converted models are equivalent to the original.
#[test]
fn results_of_fixes_and_conversions_are_proved_equal() {
    for name in PITFALLS {
        let file = onnx_lint::open(format!(
            "{}/tests/pitfalls/exported/{name}.ts17.onnx",
            env!("CARGO_MANIFEST_DIR")
        ));
        let model = file.unwrap_or_else(|error| panic!("{error}")).model;
        let optimised = FixOptions {
            selection: Selection::new(vec!["OPT".to_owned()], Vec::new()),
            ..FixOptions::default()
        };
        let converted = FixOptions {
            opset: Some(18),
            selection: Selection::none(),
            optimize: false,
            ..FixOptions::default()
        };
        for options in [optimised, converted] {
            let outcome = onnx_lint::fix(model.clone(), &options, &RULES);
            assert_eq!(outcome.findings, [], "{name}");
            let comparison = compare(&model, &outcome.model, &RULES);
            assert!(comparison.computes != Equivalence::Unknown, "{name}: {comparison:#?}");
        }
    }
}

#[test]
fn runtime_comparison_is_on_request_and_not_a_proof() {
    let none = [("ORT_DYLIB_PATH", std::ffi::OsStr::new("/nowhere"))];
    let other = NET.replace("Relu", "Sigmoid");
    let alike =
        NET.replace("y = Add (r, n)", "m = Mul (n, n)\n  d = Sub (r, n)\n  k = Add (d, n)\n  y = Add (k, n)");
    let sandbox = Sandbox::new(&[("a.onnxtxt", NET), ("b.onnxtxt", &other), ("c.onnxtxt", &alike)]);
    let ran = sandbox.diff_with(&["a.onnxtxt", "b.onnxtxt", "--run"], &none);
    assert!(
        ran.status == 1 && ran.stdout.contains("run in the built-in evaluator: different results"),
        "{ran:?}"
    );
    let ran = sandbox.diff_with(&["a.onnxtxt", "c.onnxtxt", "--run"], &none);
    assert!(ran.status == 1 && ran.stdout.contains("equal results, which is no proof"), "{ran:?}");
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        let ran = sandbox.diff(&["a.onnxtxt", "b.onnxtxt", "--run"]);
        assert!(ran.stdout.contains("run in ONNX Runtime: different results at sizes 2, 3, 1"), "{ran:?}");
        let ran = sandbox.diff(&["a.onnxtxt", "c.onnxtxt", "--run"]);
        assert!(ran.stdout.contains("run in ONNX Runtime: equal results at sizes 2, 3, 1"), "{ran:?}");
    }
}

#[test]
fn unreadable_file_is_an_error() {
    let sandbox = Sandbox::new(&[("a.onnxtxt", NET), ("b.onnxtxt", "no model")]);
    let ran = sandbox.diff(&["a.onnxtxt", "missing.onnx"]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{ran:?}");
    let ran = sandbox.diff(&["a.onnxtxt", "b.onnxtxt"]);
    assert!(ran.status == 2 && ran.stderr.contains("b.onnxtxt") && ran.stdout.is_empty(), "{ran:?}");
}

#[test]
fn decompositions_are_proved_at_the_lower_opset() {
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
        main (float[N,S,8] x, float[8] s, float[8] b) => (float[N,S,8] y) {\n  \
        y = LayerNormalization <epsilon = 0.001> (x, s, b)\n}\n";
    let [model, other] = pair(model, &[("0.001", "0.002")]);
    let options = FixOptions { opset: Some(13), ..FixOptions::default() };
    let converted = onnx_lint::fix::fix(model.clone(), &options, &RULES).model;
    assert_eq!(compare(&model, &converted, &RULES).computes, Equivalence::Rounded);
    assert_eq!(compare(&other, &converted, &RULES).computes, Equivalence::Unknown);
}

/// ONNX Runtime drops reduced axes unless `keepdims` is 1; other runtimes keep them unless it is 0.
#[test]
fn reductions_with_an_invalid_keepdims_are_not_equal() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[N,4] x) => (float[N,1,1] y) <int64[1] a = {1}> {\n  \
        t = ReduceMax <axes = [1], keepdims = 1> (x)\n  y = Unsqueeze (t, a)\n}\n";
    check(model, &[], Equivalence::Same);
    check(model, &[("keepdims = 1", "keepdims = 2")], Equivalence::Unknown);
}
