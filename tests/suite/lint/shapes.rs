//! SHP: incompatible shapes, and wrong declared shapes.

use super::finds;

#[test]
fn incompatible_shapes_are_reported() {
    finds(17, "g (float[N,4] x, float[3] b) => (float[N,4] y) { y = Add (x, b) }", &["SHP001 error"]);
    finds(
        17,
        "g (float[N,C,3] x) => (float[N,8] y) <int64[2] s = {0, 0}, float[3,8] w> { a = Identity (x)  y = Concat <axis = 3> (a, a) }",
        &["SHP001 error"],
    );
    finds(
        17,
        "g (float[N,3,8,8] x, float[4,5,3,3] w) => (float[N,4,6,6] y) { y = Conv (x, w) }",
        &["SHP001 error"],
    );
    finds(
        17,
        "g (float[2,3] x) => (float[4] y) <int64[1] s = {4}> { y = Reshape (x, s) }",
        &["SHP001 error"],
    );
    finds(
        17,
        "g (float[N,4] x, float[8,5] w) => (float[N,8] y) { y = Gemm <transB = 1> (x, w) }",
        &["SHP001 error"],
    );
    finds(
        17,
        "g (float[N,2] x) => (float[N] y) <int64[1] a = {1}> { y = Squeeze (x, a) }",
        &["SPC036 error"],
    );
    finds(
        17,
        "g (float[4,N] x) => (float[2,N] a, float[2,N] b) <int64[2] s = {1, 2}> { a, b = Split <axis = 0> (x, s) }",
        &["SPC036 error", "SHP002 warning"],
    );
}

#[test]
fn possibly_compatible_shapes_are_not_reported() {
    finds(17, "g (float[N,4] x, float[M,1] b) => (float[N,4] y) { y = Add (x, b) }", &[]);
    finds(17, "g (float[N,C] x, float[K,8] w) => (float[N,8] y) { y = MatMul (x, w) }", &[]);
    finds(17, "g (float[N,A] x) => (float[N] y) <int64[1] a = {1}> { y = Squeeze (x, a) }", &[]);
    finds(17, "g (float[0,4] x) => (float[0,2,2] y) <int64[3] s = {-1, 2, 2}> { y = Reshape (x, s) }", &[]);
}

#[test]
fn wrong_declared_shapes_are_reported() {
    finds(17, "g (float[N,4] x) => (float[N,5] y) { y = Relu (x) }", &["SHP002 warning"]);
    finds(17, "g (float[N,4] x) => (float[4] y) { y = Relu (x) }", &["SHP002 warning"]);
    finds(
        17,
        "g (float[N,4] x) => (float[N,4] y) <float[N,3] t> { t = Relu (x)  y = Neg (t) }",
        &["SHP002 warning"],
    );
    finds(17, "g (float[N,4] x) => (float[M,K] y) { y = Relu (x) }", &[]);
    finds(17, "g (float[N,4] x) => (float[2,4] y) { y = Relu (x) }", &[]);
}

#[test]
fn branches_of_different_rank_are_reported() {
    finds(
        17,
        "g (bool c, float[N,1,4] x) => (float[] y) <int64[1] one = {1}> {
           y = If (c) <then_branch = a () => (float[] p) { p = Squeeze (x, one) },
                       else_branch = b () => (float[] q) { q = Identity (x) }> }",
        &["SHP004 warning"],
    );
    // No finding: the condition is constant, so the branch of the wrong rank never runs.
    finds(
        17,
        "g (float[N,1,4] x) => (float[N,4] y) <int64[1] one = {1}, int64 at = {1}> {
           s = Shape (x)  n = Gather (s, at)  i = Constant <value_int = 1> ()  c = Equal (n, i)
           y = If (c) <then_branch = a () => (float[] p) { p = Squeeze (x, one) },
                       else_branch = b () => (float[] q) { q = Identity (x) }> }",
        &[],
    );
}

#[test]
fn reflection_of_a_dynamic_axis_is_reported() {
    let pads = |size: &str| {
        format!(
            "g (float[N,1,{size}] x) => (y) <int64[6] p = {{0,0,3,0,0,3}}> {{ y = Pad <mode = \"reflect\"> (x, p) }}"
        )
    };
    assert_eq!(super::said_of("SHP001", 17, &pads("W")), ["SHP001"]);
    assert_eq!(super::said_of("SHP001", 17, &pads("8")), [""; 0]);
    assert_eq!(super::said_of("SHP001", 17, &pads("W").replace("reflect", "edge")), [""; 0]);
    assert_eq!(super::said_of("SHP001", 17, &pads("W").replace("3", "0")), [""; 0]);
}
