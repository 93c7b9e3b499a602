//! `--verify`, where ONNX Runtime is at hand: `ORT_DYLIB_PATH` names it, as `tests/environment.sh` sets it.

use crate::tool::{CLUMSY, SOUND, Sandbox};

/// Two Relus of which the second is fed a random tensor.
const RANDOM: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y, float[3] r) {\n  y = Relu (x)\n  \
    r = RandomNormal <shape = [3]> ()\n}\n";

/// A Reshape that only takes a multiple of 8 rows.
const PICKY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[] y)\n<int64[2] s = {8, -1}> {\n  y = Reshape (x, s)\n}\n";

fn check(model: &str, status: i32, said: &str) {
    check_with(model, &["--ignore", "FIX"], status, &[said]);
}

fn check_with(model: &str, options: &[&str], status: i32, said: &[&str]) {
    let sandbox = Sandbox::new(&[("net.onnxtxt", model)]);
    check_file(&sandbox, "net.onnxtxt", options, status, said);
}

/// What is said of a model that the repository carries.
fn check_pitfall(name: &str, options: &[&str], said: &[&str]) {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring(&format!("tests/pitfalls/exported/{name}.ts17.onnx"), "net.onnx");
    check_file(&sandbox, "net.onnx", options, 0, said);
}

fn check_file(sandbox: &Sandbox, file: &str, options: &[&str], status: i32, said: &[&str]) {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let ran = sandbox.fix(&[&[file, "--verify", "-o", "out.onnx"], options].concat());
    assert_eq!(ran.status, status, "{ran:?}");
    for said in said {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert_eq!(sandbox.path("out.onnx").exists(), status == 0);
}

#[test]
fn equal_results_are_told_with_their_sizes() {
    check(SOUND, 0, "equal results before and after at sizes 2, 3, 1");
    check(CLUMSY, 0, "equal results before and after at sizes 2, 3, 1");
    check(PICKY, 0, "equal results before and after at sizes 2, 8, 16");
}

#[test]
fn what_is_random_is_not_compared() {
    check(RANDOM, 0, "output `r` is not compared: it is random before already");
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

/// A model none of whose outputs can be compared was not verified.
#[test]
fn what_was_not_compared_is_not_called_equal() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain () => (float[64] r) {\n  \
        t = RandomNormal <shape = [64]> ()\n  r = Relu (t)\n}\n";
    check_with(model, &["--ignore", "FIX"], 0, &["nothing was compared: no output is the same in two runs"]);
    check_pitfall("TrainingMode", &["--unsafe-fixes"], &["nothing was compared"]);
}

#[test]
fn a_pinned_shape_is_the_one_that_runs() {
    check_with(CLUMSY, &["--fix-shape", "x=5,4"], 0, &["equal results before and after: `y` bit for bit"]);
    check_with(SOUND, &["--fix-shape", "x=5,4"], 0, &["equal results before and after: `y` bit for bit"]);
}

/// What the input states is compared at that size alone; sizes that were set free are tried.
#[test]
fn a_size_that_was_set_free_is_tried() {
    let fixed = SOUND.replace("float[N,4]", "float[2,4]");
    let said = [
        "equal results before and after: `y` bit for bit",
        "the result runs at sizes 2, 3, 1, which it leaves free",
    ];
    check_with(&fixed, &["--dynamic", "x:0=N"], 0, &said);
}

/// What is said of fixes is what they claim: a safe one keeps results, an unsafe one may change them, and says
/// which did.
#[test]
fn fixes_are_held_to_what_they_claim() {
    let runs = "the result runs at sizes 3, 1, 7, where the input does not";
    check_pitfall("BakedBatch", &[], &["equal results before and after at size 2: `2` bit for bit", runs]);
    let unsafe_fixes = ["--unsafe-fixes"];
    check_pitfall("DoubleConstant", &unsafe_fixes, &["equal results before and after: `5` within "]);
    let differ = ["the results differ at sizes 3, 7, 8, as an unsafe fix may change them", "FIX030"];
    check_pitfall("NegativeIndexRead", &unsafe_fixes, &differ);
    check_pitfall("OneHotInferredClasses", &unsafe_fixes, &["the result runs at sizes 2, 3, 1, where"]);
}

#[test]
fn a_runtime_that_is_none_is_said() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND), ("lib.so", "no library")]);
    let library = sandbox.path("lib.so");
    let environment = [("ORT_DYLIB_PATH", library.as_os_str())];
    let ran = sandbox.fix_with(&["net.onnxtxt", "--verify", "--check"], &environment);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("lib.so: cannot be loaded as ONNX Runtime"), "{}", ran.stderr);
}

/// They are run in one process.
#[test]
fn several_models_are_compared_each() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let sandbox = Sandbox::new(&[("a.onnxtxt", SOUND), ("b.onnxtxt", CLUMSY)]);
    let ran = sandbox.fix(&["a.onnxtxt", "b.onnxtxt", "--verify", "--output-dir", "out"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.stderr.matches("equal results before and after at sizes 2, 3, 1").count(), 2, "{ran:?}");
}
