//! DTY and NUM: element types, and values that they cannot represent.

use super::finds;

#[test]
fn mixed_types_of_an_operator_are_reported() {
    finds(
        17,
        "g (float16[N,4] x) => (float16[N,4] y) <float[4] s, float[4] b = {0, 0, 0, 0}, float[4] w = {1, 1, 1, 1}> { y = LayerNormalization (x, w, b) }",
        &["DTY001 error"],
    );
    finds(17, "g (float[N,4] x, double[4,2] w) => (float[N,2] y) { y = MatMul (x, w) }", &["DTY001 error"]);
    finds(
        17,
        "g (int64[N] i, int32[M] j) => (int64[K] y) { y = Concat <axis = 0> (i, j) }",
        &["DTY001 error"],
    );
    finds(
        17,
        "g (bool[N] c, float[N] x) => (float[N] y) <float16 zero = {0}> { y = Where (c, x, zero) }",
        &["DTY001 error"],
    );
    finds(17, "g (int64[N] n) => (bool[N] y) <int32 one = {1}> { y = Less (n, one) }", &["DTY001 error"]);
    finds(17, "g (float[N] x, bfloat16[N] z) => (float[N] y) { y = Max (x, z) }", &["DTY001 error"]);
    // The constant is in a subgraph, the other operand outside.
    finds(
        17,
        "g (bool c, float16[N] x) => (float16[N] y) {
           y = If (c) <then_branch = a () => (float16[N] p) { k = Constant <value = float {2}> ()  p = Mul (x, k) },
                       else_branch = b () => (float16[N] q) { q = Identity (x) }> }",
        &["DTY001 error"],
    );
    // A loop-carried value changes its type.
    finds(
        17,
        "g (float[2] x, int64 n, bool c) => (float[2] y) {
           y = Loop (n, c, x) <body = b (int64 i, bool k, float[2] a) => (bool k2, float16[2] a2) { k2 = Identity (k)  a2 = Cast <to = 10> (a) }> }",
        &["DTY001 error"],
    );
    // A function is called with operands of two types.
    finds(
        17,
        "g (float[N] x, double[N] d) => (float[N] y) { y = local.Sum (x, d) }
         <domain: \"local\", opset_import: [\"\" : 17]>
         Sum (a, b) => (c) { c = Add (a, b) }",
        &["DTY001 error"],
    );
}

#[test]
fn allowed_type_differences_are_not_reported() {
    finds(17, "g (float16[N] x) => (float16[N] y) <int64 two = {2}> { y = Pow (x, two) }", &[]);
    finds(17, "g (float[N] x) => (float16[N] y) <float16 like = {0}> { y = CastLike (x, like) }", &[]);
    finds(
        17,
        "g (float[N] x) => (uint8[N] y) <float s = {0.1}, uint8 z = {0}> { y = QuantizeLinear (x, s, z) }",
        &[],
    );
    finds(
        17,
        "g (float[N,4] x) => (float[N,2] y) <int32 at = {1}, int64[2] i = {0, 1}> { y = Gather <axis = 1> (x, i) }",
        &[],
    );
    finds(
        17,
        "g (float[N] x) => (float[N] y) { y = local.Half (x) }
         <domain: \"local\", opset_import: [\"\" : 17]>
         Half (a) => (b) { c = Constant <value = float {0.5}> ()  d = CastLike (c, a)  b = Mul (a, d) }",
        &[],
    );
}

#[test]
fn accidental_double_computation_is_reported() {
    finds(
        17,
        "g (float16[N] x) => (float16[N] y) <double[1] k = {3}> { d = Cast <to = 11> (x)  e = Div (d, k)  f = Sqrt (e)  y = Cast <to = 10> (f) }",
        &["DTY002 warning"],
    );
    // The double value is a model output.
    finds(
        17,
        "g (float[N] x) => (double[N] y) <double[1] k = {3}> { d = Cast <to = 11> (x)  y = Add (d, k) }",
        &["DTY002 warning"],
    );
    // The whole model is in double.
    finds(17, "g (double[N] x) => (float[N] y) { d = Exp (x)  y = Cast <to = 1> (d) }", &[]);
    // Integers are divided in double: no float is cast to double.
    finds(
        17,
        "g (int64[N] x) => (float[N] y) <double k = {3}> { d = Cast <to = 11> (x)  e = Div (d, k)  y = Cast <to = 1> (e) }",
        &[],
    );
}

#[test]
fn constants_out_of_range_are_reported() {
    finds(
        17,
        "g (float16[N] x) => (float16[N] y) <float low = {-1e9}> { m = Cast <to = 10> (low)  y = Add (x, m) }",
        &["DTY003 warning"],
    );
    finds(
        17,
        "g (float16[N] x, float16[1] l) => (float16[N] y) <double low = {-1e300}> { m = CastLike (low, l)  y = Add (x, m) }",
        &["DTY003 warning"],
    );
    finds(
        17,
        "g (int8[N] x) => (int8[N] y) <float big = {300}> { m = Cast <to = 3> (big)  y = Add (x, m) }",
        &["DTY003 warning"],
    );
    finds(
        17,
        "g (float16[N] x) => (float16[N] y) <float low = {-65504}> { m = Cast <to = 10> (low)  y = Add (x, m) }",
        &[],
    );
    finds(
        17,
        "g (bfloat16[N] x) => (bfloat16[N] y) <float low = {-3.3e38}> { m = Cast <to = 16> (low)  y = Add (x, m) }",
        &[],
    );
}

#[test]
fn constants_that_produce_nan_are_reported() {
    finds(
        17,
        "g (float[N,2] x) => (float[N,2] y) <float[2] w = {nan, 0}> { y = Add (x, w) }",
        &["NUM001 warning"],
    );
    finds(17, "g (int64[N] x) => (int64[N] y) <int64 zero = {0}> { y = Mod (x, zero) }", &["SPC036 error"]);
    finds(17, "g (float[N] x) => (float[N] y) <float zero = {0}> { y = Div (x, zero) }", &["NUM002 warning"]);
    finds(
        17,
        "g (float[N] x) => (float[N] y) { k = Constant <value_float = -2.0> ()  l = Log (k)  y = Mul (x, l) }",
        &["NUM003 warning"],
    );
    finds(
        17,
        "g (float16[N] x, float16[N] z) => (float16[N] y) <float eps = {1e-12}> { e = Cast <to = 10> (eps)  a = Add (e, x)  y = Div (z, a) }",
        &["NUM004 warning"],
    );
    finds(
        17,
        "g (float16[N] x, float16[N] z) => (float16[N] y) <float16 eps = {5145}> { a = Add (x, eps)  y = Div (z, a) }",
        &[],
    );
}
