//! IDX: indices out of range or of a wrong element, and updates that do not fit the indices.

use super::finds;

#[test]
fn linear_indices_with_negative_components_are_reported() {
    // The row length of the linear index comes from a Shape.
    let linear = |column: &str, size: &str| {
        format!(
            "g (float[R,C] data, int64[2] rows) => (float[2] out) <int64[2] col = {column}, int64[1] all = {{-1}}, int64 one = {{1}}> {{
               flat = Reshape (data, all)  {size}
               scaled = Mul (rows, width)  at = Add (scaled, col)  out = Gather (flat, at) }}"
        )
    };
    let from_shape = "s = Shape (data)  width = Gather (s, one)";
    finds(17, &linear("{-1, 2}", from_shape), &["IDX001 error"]);
    finds(17, &linear("{1, 2}", from_shape), &[]);
    // Three axes: i * (J * K) + j * K + k.
    finds(
        17,
        "g (float[2,3,4] data, int64[2] i) => (float[2] out) <int64[1] all = {-1}, int64[2] j = {-1, 0}, int64[2] k = {1, 2}, int64 twelve = {12}, int64 four = {4}> {
           flat = Reshape (data, all)  a = Mul (i, twelve)  b = Mul (j, four)  c = Add (b, k)  at = Add (a, c)  out = Gather (flat, at) }",
        &["IDX001 error"],
    );
}

#[test]
fn valid_negative_indices_are_not_reported() {
    finds(17, "g (float[R,C] x) => (float[C] y) <int64 at = {-1}> { y = Gather <axis = 0> (x, at) }", &[]);
    finds(17, "g (float[R,C] x) => (float[2,C] y) <int64[2,1] at = {-1, 0}> { y = GatherND (x, at) }", &[]);
    finds(17, "g (float[R,C] x) => (int64 n) <int64 at = {-1}> { s = Shape (x)  n = Gather (s, at) }", &[]);
}

#[test]
fn indices_out_of_range_are_reported() {
    finds(
        17,
        "g (float[3,C] x) => (float[1,C] y) <int64[1] at = {-4}> { y = Gather <axis = 0> (x, at) }",
        &["IDX006 error"],
    );
    finds(
        17,
        "g (float[N,3,C] x) => (float[N,C] y) <int32 at = {3}> { y = Gather <axis = -2> (x, at) }",
        &["IDX006 error"],
    );
    finds(
        17,
        "g (float[2,2] x) => (float[1] y) <int64[1,2] at = {1, 2}> { y = GatherND (x, at) }",
        &["IDX006 error"],
    );
    finds(
        17,
        "g (float[2,2] x, float[1] u) => (float[2,2] y) <int64[1,2] at = {2, 0}> { y = ScatterND (x, at, u) }",
        &["IDX006 error"],
    );
    // GatherND with batch dimensions, and ScatterElements.
    finds(
        17,
        "g (float[2,3,C] x) => (float[2,C] y) <int64[2,1] at = {2, 1}> { y = GatherND <batch_dims = 1> (x, at) }",
        &[],
    );
    finds(
        17,
        "g (float[2,3] x) => (float[2,3] y) <int64[1,1] at = {3}, float[1,1] u = {1}> { y = ScatterElements <axis = 1> (x, at, u) }",
        &["IDX006 error"],
    );
    // A Slice may end beyond the axis.
    finds(
        17,
        "g (float[3,C] x) => (float[2,C] y) <int64[1] a = {1}, int64[1] b = {99}> { y = Slice (x, a, b) }",
        &[],
    );
    // In a branch, which may never run, an index out of range is only a warning.
    finds(
        17,
        "g (bool c, float[1,C] x) => (float[C] y) <int64 zero = {0}, int64 one = {1}> {
           y = If (c) <then_branch = a () => (float[C] p) { p = Gather <axis = 0> (x, one) },
                       else_branch = b () => (float[C] q) { q = Gather <axis = 0> (x, zero) }> }",
        &["IDX006 warning"],
    );
}

#[test]
fn scatter_updates_that_do_not_broadcast_are_reported() {
    for (value, places) in
        [("float[6] v", "int64[N,1]"), ("float[1] v", "int64[3,2]"), ("float v", "int64[1]")]
    {
        let graph =
            format!("g (float[8,6] x, {places} i, {value}) => (float[8,6] y) {{ y = ScatterND (x, i, v) }}");
        finds(17, &graph, &["IDX004 error"]);
    }
    // Equal rank, but one update for several indices.
    finds(
        17,
        "g (float[8,6] x, int64[3,1] i, float[1,6] v) => (float[8,6] y) { y = ScatterND (x, i, v) }",
        &["IDX004 error"],
    );
    for (value, places) in [
        ("float[N,6] v", "int64[N,1]"),
        ("float v", "int64[2]"),
        ("float[3] v", "int64[3,2]"),
        ("float[6] v", "int64[1]"),
        // The indices have dynamic dimensions: for some sizes, the updates fit.
        ("float[1,6] v", "int64[N,1]"),
        ("float[6] v", "int64[N,K]"),
    ] {
        let graph =
            format!("g (float[8,6] x, {places} i, {value}) => (float[8,6] y) {{ y = ScatterND (x, i, v) }}");
        finds(17, &graph, &[]);
    }
}

#[test]
fn order_of_the_nodes_shows_a_lowered_accumulation() {
    let header = "<ir_version: 8, opset_import: [\"\" : 17], producer_name: \"pytorch\">";
    let graph = |nodes: &str| {
        format!(
            "{header}\ng (int64[k] i, float[5,3] a, float[k,3] b) => (float[5,3] y) <int64[1] one = {{-1}}, int64[2] s = {{-1, 3}}> {{
               {nodes}  w = ScatterND (z, u, v)  y = Add (a, w) }}"
        )
    };
    let (zeros, index) =
        ("d = Shape (a)  z = ConstantOfShape (d)", "u = Unsqueeze (i, one)  v = Reshape (b, s)");
    super::finds_in(&graph(&format!("{index}  {zeros}")), &["IDX007 warning"]);
    // The zeros come before the indices, so the user's program creates the zeros and overwrites some rows.
    super::finds_in(&graph(&format!("{zeros}  {index}")), &[]);
    super::finds_in(&graph(&format!("{index}  {zeros}")).replace("pytorch", "keras"), &[]);
}
