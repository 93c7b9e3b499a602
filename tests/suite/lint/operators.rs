//! OPS and OPV: unknown operators, and operators outside of their opset.

use super::{finds, finds_in};

#[test]
fn unknown_operators_are_reported() {
    finds(17, "g (float[N] x) => (float[N] y) { y = Bessel (x) }", &["OPS001 error"]);
    finds(17, "g (float[N] x) => (float[N] y) { y = FusedMatMul (x, x) }", &["OPS001 error"]);
    finds(17, "g (float[N] x) => (float[N] y) { y = com.microsoft.FastGelu (x) }", &[]);
    finds(
        17,
        "g (bool c, float[N] x) => (float[N] y) { y = If (c) <then_branch = a () => (float[N] p) { p = Swishh (x) }, else_branch = b () => (float[N] q) { q = Neg (x) }> }",
        &["OPS001 error"],
    );
    finds_in(
        "<ir_version: 8, opset_import: [\"\" : 17, \"my.ops\" : 1]> g (float[N] x) => (float[N] y) { y = my.ops.Warp (x) }",
        &["OPS002 warning"],
    );
    finds_in(
        "<ir_version: 8, opset_import: [\"\" : 17, \"org.pytorch.aten\" : 1]> g (float[N] x) => (float[N] y) { y = org.pytorch.aten.ATen <operator = \"erfcx\"> (x) }",
        &["OPS004 error"],
    );
    finds_in(
        "<ir_version: 8, opset_import: [\"\" : 17, \"pkg.onnxscript.torch_lib\" : 1]> g (float[N] x) => (float[N] y) { y = pkg.onnxscript.torch_lib.aten_relu (x) } <domain: \"pkg.onnxscript.torch_lib\", opset_import: [\"\" : 17]> aten_relu (a) => (b) { b = Relu (a) }",
        &[],
    );
}

#[test]
fn operators_outside_of_their_opset_are_reported() {
    finds(
        13,
        "g (float[N,4] x) => (float[N,4] y) <float[4] w = {1, 1, 1, 1}> { y = LayerNormalization (x, w) }",
        &["OPV001 warning"],
    );
    finds(11, "g (float[N] x) => (float[N] y) { y = HardSwish (x) }", &["OPV001 error"]);
    finds(
        13,
        "g (float[N,C] x) => (float[N] y) { y = ReduceSum <axes = [1], keepdims = 0> (x) }",
        &["OPV003 error"],
    );
    finds(17, "g (float[N,C] x) => (float[N,1,C] y) { y = Unsqueeze <axes = [1]> (x) }", &["OPV003 error"]);
    finds(13, "g (float[N,C] x) => (float[N,C] y) { y = Clip <max = 6.0> (x) }", &["OPV003 error"]);
    finds(
        17,
        "g (float[N,4] x) => (float[N,2] a, float[N,2] b) { a, b = Split <axis = 1, num_outputs = 2> (x) }",
        &["OPV003 error"],
    );
    finds(
        18,
        "g (float[N,4] x) => (float[N,2] a, float[N,2] b) { a, b = Split <axis = 1, num_outputs = 2> (x) }",
        &[],
    );
    finds(11, "g (int32[N] a) => (int32[N] y) { y = Relu (a) }", &["OPV004 error"]);
    finds(
        9,
        "g (float[N,C,H,W] x, float[4] s) => (float[N,C,H2,W2] y) { y = Upsample <mode = \"nearest\"> (x, s) }",
        &[],
    );
    finds(
        11,
        "g (float[N,C,H,W] x, float[4] s) => (float[N,C,H2,W2] y) { y = Upsample <mode = \"nearest\"> (x, s) }",
        &["OPV002 error"],
    );
    // A function has its own opset imports, but ONNX Runtime checks its nodes against the imports of the model.
    finds(
        17,
        "g (float[N,C] x) => (float[N,C] y) { y = local.Clip6 (x) }
         <domain: \"local\", opset_import: [\"\" : 10]>
         Clip6 (a) => (b) { b = Clip <min = 0.0, max = 6.0> (a) }",
        &["OPV009 error"],
    );
}

#[test]
fn models_with_a_changed_opset_number_are_reported() {
    finds(
        13,
        "g (float[N,C,H,W] x, float[4] s) => (float[N,C,H2,W2] y) { y = Resize <mode = \"linear\"> (x, s) }",
        &["OPV007 error"],
    );
    finds(
        13,
        "g (float[N,C,H,W] x, int64[4] s) => (float[N,C,H2,W2] y) { y = Resize <mode = \"linear\"> (x, \"\", \"\", s) }",
        &[],
    );
    finds(
        10,
        "g (float[N,C,H,W] x, float[4] s) => (float[N,C,H2,W2] y) { y = Resize <mode = \"linear\"> (x, s) }",
        &[],
    );
    finds_in(
        "<ir_version: 4, opset_import: [\"\" : 15]> g (float[N] x) => (float[N] y) { y = Relu (x) }",
        &["OPV005 warning"],
    );
    finds_in(
        "<ir_version: 10, opset_import: [\"\" : 15]> g (float[N] x) => (float[N] y) { y = Relu (x) }",
        &[],
    );
}
