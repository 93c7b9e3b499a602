//! Tests of `--verify`, if ONNX Runtime is installed.
//! `tests/environment.sh` sets the path of ONNX Runtime in `ORT_DYLIB_PATH`.

use crate::tool::{CLUMSY, SOUND, Sandbox};

/// A Relu, and a second output of random numbers.
const RANDOM: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y, float[3] r) {\n  y = Relu (x)\n  \
    r = RandomNormal <shape = [3]> ()\n}\n";

/// A Reshape that requires a multiple of 8 elements.
const PICKY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[] y)\n<int64[2] s = {8, -1}> {\n  y = Reshape (x, s)\n}\n";

fn check(model: &str, status: i32, expected: &str) {
    check_with(model, &["--ignore", "FIX"], status, &[expected]);
}

fn check_with(model: &str, options: &[&str], status: i32, expected: &[&str]) {
    let sandbox = Sandbox::new(&[("net.onnxtxt", model)]);
    check_file(&sandbox, "net.onnxtxt", options, status, expected);
}

/// Checks the messages for an exported pitfall.
fn check_pitfall(name: &str, options: &[&str], expected: &[&str]) {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring(&format!("tests/pitfalls/exported/{name}.ts17.onnx"), "net.onnx");
    check_file(&sandbox, "net.onnx", options, 0, expected);
}

fn check_file(sandbox: &Sandbox, file: &str, options: &[&str], status: i32, expected: &[&str]) {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let ran = sandbox.fix(&[&[file, "--verify", "-o", "out.onnx"], options].concat());
    assert_eq!(ran.status, status, "{ran:?}");
    for text in expected {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
    assert_eq!(sandbox.path("out.onnx").exists(), status == 0);
}

#[test]
fn equal_results_are_reported_with_their_sizes() {
    check(SOUND, 0, "equal results before and after at sizes 2, 3, 1");
    check(CLUMSY, 0, "equal results before and after at sizes 2, 3, 1");
    check(PICKY, 0, "equal results before and after at sizes 2, 8, 16");
}

#[test]
fn random_outputs_are_not_compared() {
    check(RANDOM, 0, "output `r` is not compared: it is random");
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("tests/models/programs/random.pt2", "random.pt2");
    check_file(
        &sandbox,
        "random.pt2",
        &[],
        0,
        &["output `dropout` is not compared", "output `randint` is not compared"],
    );
}

/// A model without comparable outputs is not verified.
#[test]
fn model_without_comparable_outputs_is_not_reported_equal() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain () => (float[64] r) {\n  \
        t = RandomNormal <shape = [64]> ()\n  r = Relu (t)\n}\n";
    check_with(model, &["--ignore", "FIX"], 0, &["each output is random"]);
    check_pitfall("TrainingMode", &["--unsafe-fixes"], &["no output was compared"]);
}

/// A rule that replaces a sequence by another of the same type is wrong.
#[test]
fn items_of_sequences_are_compared() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[2] x) => (seq(float[2]) y) {\n  \
        t = Neg (x)\n  y = SequenceConstruct (x, t)\n}\n";
    check(model, 0, "equal results before and after: `y`");
    let rule = r#"language 3
## Replaces a pair by a wrong one.
##
## **Why**  For this test.
## **Fix safety**  Exact, wrongly.
rule OWN001 wrong-pair {
  severity hint  phase simplify  safety exact
  message "a pair"
  help    "none"
  match y = SequenceConstruct (a, b)
  where is_input(a)
  rewrite SequenceConstruct (b, a)
  example "pair" {
    g (float[A] x) => (seq(float[A]) y) { t = Neg (x)  y = SequenceConstruct (x, t) }
  } equivalent
  but "another operator" with "y = SequenceConstruct (x, t)" as "y = SequenceInsert (s, t)",
    "t = Neg" as "s = SequenceConstruct (x) t = Neg" no_match
}
"#;
    let sandbox = Sandbox::new(&[("net.onnxtxt", model), ("rules/own.rule", rule)]);
    let expected = "the results differ: output `y`: item 0: element 0";
    check_file(&sandbox, "net.onnxtxt", &["--rules", "rules"], 1, &[expected]);
}

#[test]
fn fixed_shape_is_the_compared_size() {
    check_with(CLUMSY, &["--fix-shape", "x=5,4"], 0, &["equal results before and after: `y` exactly"]);
    check_with(SOUND, &["--fix-shape", "x=5,4"], 0, &["equal results before and after: `y` exactly"]);
}

/// Outputs are compared only at the original size.
/// At other sizes of a new dynamic dimension, the result must run.
#[test]
fn new_dynamic_dimensions_are_run_at_several_sizes() {
    let fixed = SOUND.replace("float[N,4]", "float[2,4]");
    let expected = [
        "equal results before and after: `y` exactly",
        "the fixed model runs at sizes 2, 3, 1, but the input model runs only at its static sizes",
    ];
    check_with(&fixed, &["--dynamic", "x:0=N"], 0, &expected);
}

/// A safe fix must preserve the outputs.
/// An unsafe fix may change outputs, and the message then names the rule.
#[test]
fn fixes_are_verified_according_to_their_safety() {
    let runs = "the fixed model runs at sizes 3, 1, 7, at which the input model does not run";
    check_pitfall("BakedBatch", &[], &["equal results before and after at size 2: `2` exactly", runs]);
    let unsafe_fixes = ["--unsafe-fixes"];
    check_pitfall("DoubleConstant", &unsafe_fixes, &["equal results before and after: `5` within "]);
    let differ = ["the results differ at sizes 3, 7, 8, as an unsafe fix may change them", "FIX030"];
    check_pitfall("NegativeIndexRead", &unsafe_fixes, &differ);
    check_pitfall(
        "OneHotInferredClasses",
        &unsafe_fixes,
        &["the fixed model runs at sizes 2, 3, 1, at which the input model does not run"],
    );
}

#[test]
fn invalid_runtime_library_is_reported() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND), ("lib.so", "no library")]);
    let library = sandbox.path("lib.so");
    let environment = [("ORT_DYLIB_PATH", library.as_os_str())];
    let ran = sandbox.fix_with(&["net.onnxtxt", "--verify", "--check"], &environment);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("lib.so: cannot be loaded as ONNX Runtime"), "{}", ran.stderr);
}

/// Several models of one command are verified in one process.
#[test]
fn each_of_several_models_is_compared() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let sandbox = Sandbox::new(&[("a.onnxtxt", SOUND), ("b.onnxtxt", CLUMSY)]);
    let ran = sandbox.fix(&["a.onnxtxt", "b.onnxtxt", "--verify", "--output-dir", "out"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.stderr.matches("equal results before and after at sizes 2, 3, 1").count(), 2, "{ran:?}");
}
