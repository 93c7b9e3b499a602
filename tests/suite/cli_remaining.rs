//! Errors that remain in a result of `onnx-fix`.

use crate::tool::{Sandbox, check};

/// A model whose convolution has a bias of the wrong size.
const INVALID: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,1,4,4] x, float[2,1,3,3] w, float[3] b) => (float[N,2,2,2] y) {\n  y = Conv (x, w, b)\n}\n";

#[test]
fn result_that_cannot_run_is_not_written() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", INVALID)]);
    let ran = sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt"]);
    check(&ran, 1, "net.onnxtxt:3:19");
    check(&ran, 1, "error[SHP001]: `\"y\"` cannot run: `b` has shape [3], but `Conv` requires [2]");
    check(
        &ran,
        1,
        "error: 1 error of `net.onnxtxt` remains at `y`: nothing is written (unless with --allow-errors)",
    );
    assert!(!sandbox.path("out.onnxtxt").exists());
    check(&sandbox.fix(&["net.onnxtxt", "--in-place"]), 1, "nothing is written");
    assert_eq!(sandbox.read("net.onnxtxt"), INVALID.as_bytes());
    check(&sandbox.fix(&["net.onnxtxt", "--check"]), 1, "1 error of `net.onnxtxt` remains");
    check(&sandbox.fix(&["net.onnxtxt", "--diff"]), 1, "1 error of `net.onnxtxt` remains");
    let allowed = ["net.onnxtxt", "--allow-errors", "-o", "out.onnxtxt"];
    check(
        &sandbox.fix(&allowed),
        1,
        "1 error of `net.onnxtxt` remains at `y` in the result, written to `out.onnxtxt`",
    );
    assert!(sandbox.path("out.onnxtxt").exists());
}

/// An error remains even if a conversion replaces the node that causes the error.
#[test]
fn error_of_a_replaced_node_remains() {
    let text = "<ir_version: 8, opset_import: [\"\" : 16]>\n\
                main (float[N,2,4,4] x, float[N,2,2,3] g) => (float[N,2,2,2] y) {\n  y = GridSample (x, g)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    check(&sandbox.fix(&["net.onnxtxt", "--opset", "13", "-o", "out.onnxtxt"]), 1, "error[SHP001]");
    assert!(!sandbox.path("out.onnxtxt").exists());
}

/// A conversion replaces the node, but no opset defines the value of its attribute.
#[test]
fn bad_attribute_of_a_replaced_node_remains() {
    let text = "<ir_version: 9, opset_import: [\"\" : 20]>\n\
                main (float[N] x) => (float[N] y) {\n  y = Gelu <approximate = \"none\"> (x)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text), ("bad.onnxtxt", &text.replace("none", "fast"))]);
    check(&sandbox.fix(&["net.onnxtxt", "--opset", "13", "-o", "out.onnxtxt"]), 0, "");
    check(&sandbox.fix(&["bad.onnxtxt", "--opset", "13", "-o", "bad_out.onnxtxt"]), 1, "error[SPC019]");
    assert!(!sandbox.path("bad_out.onnxtxt").exists());
}

/// ONNX Runtime refuses every run of the OneHot.
#[test]
fn result_that_fails_at_every_size_is_not_written() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                main (int64[N] x) => (float[N,C] y) <int64 n = {0}, float[2] v = {0, 1}> {\n  \
                y = OneHot (x, n, v)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt", "--ignore", "ALL"]), 1, "error[EXP013]");
    assert!(!sandbox.path("out.onnxtxt").exists());
    // In a branch, the node may never run.
    let branch = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                  main (bool c, int64[N] x) => (float y) <int64 n = {0}, float[2] v = {0, 1}> {\n  \
                  y = If (c) <then_branch = yes () => (t) { t = OneHot (x, n, v) },\n  \
                  else_branch = no () => (e) { e = Cast <to = 1> (x) }>\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", branch)]);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt", "--ignore", "ALL"]), 0, "error[EXP013]");
}

#[test]
fn error_of_an_uncalled_function_does_not_remain() {
    let text = "<ir_version: 9, opset_import: [\"\" : 20, \"l\" : 1]>\n\
                main (float[N] x) => (float[N] y) {\n  y = Relu (x)\n}\n\
                <domain: \"l\", opset_import: [\"\" : 20]>\n\
                f (a) => (b) {\n  b = Gelu <approximate = \"fast\"> (a)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    check(&sandbox.fix(&["net.onnxtxt", "--opset", "13", "-o", "out.onnxtxt"]), 0, "");
}

/// The model works at the traced batch size.
#[test]
fn result_that_fails_at_some_sizes_is_written() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                main (float[N,4] x) => (float[A,B] y) <int64[2] s = {2, 8}> {\n  y = Reshape (x, s)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    let ran = sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt", "--ignore", "ALL"]);
    check(&ran, 0, "error[EXP001]");
    check(
        &ran,
        0,
        "warning: 1 error of `net.onnxtxt` remains at `y`: the model can fail or give wrong results",
    );
    assert!(sandbox.path("out.onnxtxt").exists());
}

#[test]
fn suppressed_error_does_not_prevent_writing() {
    let text = INVALID.replace("(x, w, b)", "(x, w, b)  # onnx-lint: ignore[SHP001]");
    let sandbox = Sandbox::new(&[("net.onnxtxt", &text)]);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt"]), 0, "");
    assert!(sandbox.path("out.onnxtxt").exists());
    let config = "[[suppress]]\nrules = [\"SHP001\"]\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", INVALID), ("onnx-lint.toml", config)]);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt"]), 0, "");
}
