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
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let sandbox = Sandbox::new(&[("net.onnxtxt", model)]);
    let ran = sandbox.fix(&["net.onnxtxt", "--verify", "-o", "out.onnx", "--ignore", "FIX"]);
    assert_eq!(ran.status, status, "{ran:?}");
    assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
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
