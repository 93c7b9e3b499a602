//! EXP: faults of the export, in the patterns of several exporters.

use super::finds;

#[test]
fn hard_coded_sizes_in_reshape_are_reported() {
    // As tf2onnx exports it: the target shape is the output of a Cast.
    finds(
        13,
        "g (float[batch,7,7,64] x) => (float[1,3136] y) { c = Constant <value = int32[2] {1, 3136}> ()  s = Cast <to = 7> (c)  y = Reshape (x, s) }",
        &["EXP001 error"],
    );
    // The target is a Concat of constants.
    finds(
        17,
        "g (float[N,8] x) => (float[4,2,8] y) <int64[1] a = {4}, int64[2] b = {2, 8}> { s = Concat <axis = 0> (a, b)  y = Reshape (x, s) }",
        &["EXP001 error"],
    );
    // A batch of 1 followed by -1 may be intended, unless a later node requires 12 columns.
    finds(17, "g (float[batch,3,4] x) => (float[1,M] y) <int64[2] s = {1, -1}> { y = Reshape (x, s) }", &[]);
    finds(
        17,
        "g (float[batch,3,4] x) => (float[1,5] y) <int64[2] s = {1, -1}, float[12,5] v = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> { r = Reshape (x, s)  y = MatMul (r, v) }",
        &["EXP001 error"],
    );
    // Before opset 5, the shape is an attribute.
    finds(
        4,
        "g (float[batch,3,4] x) => (float[2,12] y) { y = Reshape <shape = [2, 12]> (x) }",
        &["EXP001 error"],
    );
    // Relu and Transpose are between the input and the Reshape.
    finds(
        17,
        "g (float[N,C,L] x) => (float[2,C2] y) <int64[2] s = {2, 40}> { r = Relu (x)  t = Transpose <perm = [0, 2, 1]> (r)  y = Reshape (t, s) }",
        &["EXP001 error"],
    );
}

#[test]
fn dynamic_sizes_are_not_reported() {
    finds(17, "g (float[N,8] x) => (float[N,2,4] y) <int64[3] s = {0, 2, 4}> { y = Reshape (x, s) }", &[]);
    finds(17, "g (float[N,8] x) => (float[N,2,4] y) <int64[3] s = {-1, 2, 4}> { y = Reshape (x, s) }", &[]);
    finds(17, "g (float[N,L,8] x) => (float[K,8] y) <int64[2] s = {-1, 8}> { y = Reshape (x, s) }", &[]);
    finds(
        17,
        "g (float[N,8] x) => (float[N,2,4] y) <int64 z = {0}, int64[1] o = {0}, int64[2] r = {2, 4}> {
           d = Shape (x)  n = Gather <axis = 0> (d, z)  u = Unsqueeze (n, o)  s = Concat <axis = 0> (u, r)  y = Reshape (x, s) }",
        &[],
    );
    // Weights are static, and so is a bias along the features.
    finds(
        17,
        "g (float[N,K] x, float[8,4] w, float[4] b) => (float[N,4] y) { t = MatMul (x, w)  y = Add (t, b) }",
        &[],
    );
    // A position embedding that is sliced to the sequence length.
    finds(
        17,
        "g (float[N,L,4] x) => (float[N,L,4] y) <float[1,3,4] p = {1,2,3,4,5,6,7,8,9,10,11,12}, int64 one = {1}, int64[1] from = {0}, int64[1] ax = {1}, int64[1] o = {0}> {
           d = Shape (x)  l = Gather <axis = 0> (d, one)  e = Unsqueeze (l, o)  c = Slice (p, from, e, ax)  y = Add (x, c) }",
        &[],
    );
    // The target has one row, but the first axis of the input is not known to be a batch.
    finds(17, "g (float[3,L] x) => (float[1,M] y) <int64[2] s = {1, -1}> { y = Reshape (x, s) }", &[]);
}

#[test]
fn hard_coded_sizes_are_reported_from_later_evidence() {
    // The target has -1 for the batch; the residual connection shows the intended shape.
    finds(
        17,
        "g (float[batch,seq,8] x, float[8,8] w) => (float[B,S,8] y) <int64[3] s = {-1, 5, 8}> { r = Reshape (x, s)  t = MatMul (r, w)  y = Add (x, t) }",
        &["EXP001 error"],
    );
    // Attention heads: only the first Reshape is reported.
    finds(
        17,
        "g (float[batch,seq,8] x) => (float[B,S,8] y) <int64[4] heads = {-1, 5, 2, 4}, int64[3] whole = {-1, 5, 8}> {
           r = Reshape (x, heads)  t = Transpose <perm = [0, 2, 1, 3]> (r)  u = Relu (t)
           v = Transpose <perm = [0, 2, 1, 3]> (u)  q = Reshape (v, whole)  y = Add (x, q) }",
        &["EXP001 error"],
    );
    // The declared output shows the intended shape.
    finds(
        17,
        "g (float[batch,seq,8] x) => (float[batch,seq,8] y) <int64[3] s = {-1, 5, 8}> { r = Reshape (x, s)  y = Relu (r) }",
        &["EXP001 warning"],
    );
    finds(
        17,
        "g (float[batch,seq,8] x, float[40,3] w, float[3] b) => (float[batch,3] y) <int64[2] s = {-1, 40}> { r = Reshape (x, s)  y = Gemm (r, w, b) }",
        &["EXP001 warning"],
    );
    // A Resize to static sizes hard-codes height, width and batch: it interpolates over the batch, too.
    finds(
        17,
        "g (float[batch,3,H,W] x) => (float[B,6,C,D] y) <int64[4] s = {2, 3, 8, 8}> {
           p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)  u = Resize (p, \"\", \"\", s)  y = Concat <axis = 1> (x, u) }",
        &["EXP001 error", "EXP001 error", "EXP001 error"],
    );
    finds(
        13,
        "g (float[batch,3,H,W] x) => (float[2,3,8,8] y) <int64[4] s = {2, 3, 8, 8}> { y = Resize (x, \"\", \"\", s) }",
        &["EXP001 warning"],
    );
    // The -1 for the batch also includes the dynamic height and width.
    finds(
        17,
        "g (float[batch,3,H,W] x, float[48,8] w) => (float[B,8] y) <int64[2] s = {-1, 48}> { r = Reshape (x, s)  y = MatMul (r, w) }",
        &["EXP001 warning"],
    );
    finds(
        17,
        "g (float[batch,3,H,W] x) => (float[B,3,16] y) <int64[3] s = {-1, 3, 16}> { y = Reshape (x, s) }",
        &["EXP001 warning"],
    );
}

#[test]
fn intended_static_sizes_are_not_reported() {
    // Windows of an image, pieces of a sequence, pixels of one channel, and similar shapes.
    for graph in [
        "g (float[batch,H,W,7,7,8] x) => (float[B,49,8] y) <int64[3] s = {-1, 49, 8}> { y = Reshape (x, s) }",
        "g (float[batch,seq,8] x) => (float[B,5,8] y) <int64[3] s = {-1, 5, 8}> { y = Reshape (x, s) }",
        "g (float[batch,3,4,W] x) => (float[B,48] y) <int64[2] s = {-1, 48}> { y = Reshape (x, s) }",
        "g (float[batch,3,H,W] x) => (float[batch,3,P] y) <int64[3] s = {0, 3, -1}> { y = Reshape (x, s) }",
        "g (float[batch,4,A,B] x) => (float[P,4] y) <int64[2] s = {-1, 4}> { y = Reshape (x, s) }",
        "g (float[batch,1,H,W] x) => (float[B,28] y) <int64[2] s = {-1, 28}> { y = Reshape (x, s) }",
        "g (float[batch,3,H,W] x) => (float[batch,3,8,8] y) <int64[2] s = {8, 8}> { y = Resize <axes = [2, 3]> (x, \"\", \"\", s) }",
        // The declared output does not have the batch of the input.
        "g (float[batch,seq,8] x, float[40,3] w, float[3] b) => (float[rows,3] y) <int64[2] s = {-1, 40}> { r = Reshape (x, s)  y = Gemm (r, w, b) }",
        "g (float[batch,seq,8] x, float[8,3] w, float[3] b) => (float[rows,3] y) <int64[2] s = {-1, 8}> { r = Reshape (x, s)  y = Gemm (r, w, b) }",
        // The static size meets another static size, not a dynamic one.
        "g (float[batch,3,H,W] x) => (float[batch,3,4,4] y) <int64[2] s = {8, 8}, int64[2] t = {4, 4}> {
           a = Resize <axes = [2, 3]> (x, \"\", \"\", s)  b = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)
           c = Resize <axes = [2, 3]> (x, \"\", \"\", t)  y = Add (b, c) }",
        // The static size 5 is that of a weight, and the dynamic dimension is a feature axis.
        "g (float[batch,K] x, float[batch,3] z, float[3,5] w) => (float[batch,5] y) { t = MatMul (z, w)  y = Add (x, t) }",
        // The branch of the If may be intended for this size only.
        "g (bool c, float[batch,seq,8] x) => (float[B,S,8] y) <int64[3] s = {-1, 5, 8}> {
           y = If (c) <then_branch = a () => (float[B,S,8] p) { r = Reshape (x, s)  p = Add (x, r) },
                       else_branch = b () => (float[B,S,8] q) { q = Neg (x) }>
         }",
    ] {
        finds(18, graph, &[]);
    }
}

#[test]
fn hard_coded_sizes_in_other_operators_are_reported() {
    finds(
        17,
        "g (float[batch,1,8] x) => (float[4,3,8] y) <int64[3] s = {4, 3, 8}> { y = Expand (x, s) }",
        &["EXP001 error"],
    );
    finds(
        17,
        "g (float[batch,8] x) => (float[2,8] y) <float[2,8] m = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}> { y = Mul (x, m) }",
        &["EXP001 error"],
    );
    finds(
        17,
        "g (float[batch,2] x) => (float[B,3] y) <float[2,1] token = {1, 2}> { y = Concat <axis = 1> (token, x) }",
        &["EXP001 error"],
    );
    // ConstantOfShape of a constant shape.
    finds(
        17,
        "g (float[batch,3,4] x) => (float[B,3,4] y) <int64[3] s = {2, 3, 4}> { z = ConstantOfShape (s)  y = Sub (x, z) }",
        &["EXP001 error"],
    );
    // The initial state of a recurrence.
    finds(
        17,
        "g (float[L,batch,2] x, float[1,6,2] w, float[1,6,2] r) => (float[1,2,2] h) <float[1,3,2] h0 = {0,0,0,0,0,0}> {
           y, h = GRU <hidden_size = 2> (x, w, r, \"\", \"\", h0) }",
        &["EXP001 error"],
    );
}

#[test]
fn hard_coded_sizes_in_subgraphs_are_reported() {
    finds(
        17,
        "g (bool c, float[batch,8] x) => (float[2,2,4] y) <int64[3] s = {2, 2, 4}> {
           y = If (c) <then_branch = a () => (float[2,2,4] p) { p = Reshape (x, s) },
                       else_branch = b () => (float[2,2,4] q) { n = Neg (x)  q = Reshape (n, s) }>
         }",
        &["EXP001 error"],
    );
}

#[test]
fn size_modified_in_place_is_reported() {
    // `n -= 1; n - n`, where the size is read by Slice and Squeeze, as newer exporters write it.
    finds(
        17,
        "g (float[N,L] x) => (int64 r) <int64[1] a = {1}, int64[1] b = {2}, int64[1] z = {0}, int64 one = {1}> {
           s = Shape (x)  t = Slice (s, a, b, z)  n = Squeeze (t, z)  m = Sub (n, one)  r = Sub (m, m) }",
        &["EXP003 error"],
    );
    finds(
        17,
        "g (float[N,L] x) => (int64 r) <int64 at = {1}, int64 one = {1}> {
           s = Shape (x)  n = Gather <axis = 0> (s, at)  m = Add (n, one)  r = Mul (m, m) }",
        &[],
    );
}

#[test]
fn unused_inputs_and_constant_outputs_are_reported() {
    // The only user of the input is a dead node.
    finds(
        17,
        "g (float[N] x, float[N] mask) => (float[N] y) { m = Neg (mask)  y = Relu (x) }",
        &["EXP008 warning"],
    );
    // Using only the shape of an input counts as a use.
    finds(17, "g (float[N] x, float[M] like) => (float[M] y) { s = Shape (like)  y = Expand (x, s) }", &[]);
    finds(
        17,
        "g (float[N] x) => (float[N] y, float[2] c) <float[2] w = {1, 2}> { y = Relu (x)  c = Exp (w) }",
        &["EXP009 warning"],
    );
    finds(
        17,
        "g (float[N] x) => (float[N] y, float[2] c) { y = Relu (x)  c = RandomNormal <shape = [2]> () }",
        &[],
    );
    // A cache that is passed through unchanged.
    finds(
        17,
        "g (float[N] x, float[M] cache) => (float[N] y, float[M] out) { y = Relu (x)  out = Identity (cache) }",
        &[],
    );
}

#[test]
fn layers_in_training_mode_are_reported() {
    let bn = |opset, attrs: &str, outputs: &str, expected: &[&str]| {
        let graph = format!(
            "g (float[N,2,8] x) => (float[N,2,8] y) <float[2] s = {{1, 1}}, float[2] b = {{0, 0}}, float[2] m = {{0, 0}}, float[2] v = {{1, 1}}> {{
               {outputs} = BatchNormalization {attrs} (x, s, b, m, v) }}"
        );
        finds(opset, &graph, expected);
    };
    bn(17, "<training_mode = 1>", "y, rm, rv", &["EXP010 error"]);
    bn(9, "", "y, rm, rv, sm, sv", &["EXP010 error"]);
    bn(17, "<training_mode = 0>", "y", &[]);
    bn(9, "", "y", &[]);
    bn(6, "<is_test = 1>", "y", &[]);
    finds(
        17,
        "g (float[N] x, bool train) => (float[N] y) <float r = {0.1}> { y = Dropout (x, r, train) }",
        &[],
    );
    finds(17, "g (float[N] x) => (float[N] y) <float r = {0}, bool t = {1}> { y = Dropout (x, r, t) }", &[]);
    finds(10, "g (float[N] x) => (float[N] y) { y = Dropout <ratio = 0.5> (x) }", &[]);
    // A Dropout in training mode inside a function.
    finds(
        17,
        "g (float[N] x) => (float[N] y) { y = local.Block (x) }
         <domain: \"local\", opset_import: [\"\" : 17]>
         Block (a) => (b) { r = Constant <value = float {0.5}> ()  t = Constant <value = bool {1}> ()  b = Dropout (a, r, t) }",
        &["EXP010 error"],
    );
}

#[test]
fn invalid_one_hot_depths_are_reported() {
    finds(
        17,
        "g (int64[N] l) => (float[N,D] y) <float[2] v = {0, 1}> { d = Constant <value_int = -1> ()  y = OneHot <axis = -1> (l, d, v) }",
        &["EXP013 error"],
    );
    finds(
        17,
        "g (int64[N] l) => (float[N,D] y) <int64[1] d = {0}, float[2] v = {0, 1}> { y = OneHot (l, d, v) }",
        &["EXP013 error"],
    );
    finds(
        17,
        "g (int64[N] l, int64 d) => (float[N,D] y) <float[2] v = {0, 1}> { y = OneHot (l, d, v) }",
        &[],
    );
}

#[test]
fn unrolled_loops_are_reported() {
    // A loop that is unrolled with Split, as Keras and tf2onnx export it.
    let step =
        |t: usize, h: &str| format!("a{t} = MatMul (s{t}, w)  b{t} = Add (a{t}, {h})  h{t} = Tanh (b{t})");
    let body = format!("{} {} {} {}", step(0, "h"), step(1, "h0"), step(2, "h1"), step(3, "h2"));
    let graph = format!(
        "g (float[4,N,8] x, float[8,8] w, float[1,N,8] h) => (float[1,N,8] h3) {{ s0, s1, s2, s3 = Split <axis = 0> (x)  {body} }}"
    );
    // Four steps are reported at level info if the interface is dynamic, and at level warning if it is static.
    finds(13, &graph, &[]);
    finds(13, &graph.replace('N', "2"), &["EXP007 warning"]);
    // Three equal steps are not reported: they may be written by hand.
    let three = format!("{} {} {}", step(0, "h"), step(1, "h0"), step(2, "h1"));
    let three = format!(
        "g (float[3,2,8] x, float[8,8] w, float[1,2,8] h) => (float[1,2,8] h2) {{ s0, s1, s2 = Split <axis = 0> (x)  {three} }}"
    );
    finds(13, &three, &[]);
    // The parts of a Split may have different uses, such as the gates of a recurrent cell.
    finds(
        13,
        "g (float[N,8] x) => (float[N,2] y) {
           i, f, o, c = Split <axis = 1> (x)
           a = Sigmoid (i)  b = Sigmoid (f)  d = Sigmoid (o)  e = Tanh (c)
           k = Mul (a, e)  l = Add (k, b)  m = Tanh (l)  y = Mul (d, m) }",
        &[],
    );
}

#[test]
fn hard_coded_sizes_of_splits_masks_and_biases_are_reported() {
    finds(
        18,
        "g (float[batch,seq,8] x) => (float[batch,seq,8] y) <bool[1,4,1] m = {1, 1, 0, 0}, float zero = {0}> { y = Where (m, x, zero) }",
        &["EXP001 error"],
    );
    finds(
        18,
        "g (float[batch,4] x, float[4,2] w) => (float[batch,2] y) <float[3,2] c = {0, 0, 0, 0, 0, 1}> { y = Gemm (x, w, c) }",
        &["EXP001 error"],
    );
    finds(
        18,
        "g (float[batch,4] x) => (float[1,4] a, float[1,4] b) <int64[2] s = {1, 1}> { a, b = Split <axis = 0> (x, s) }",
        &["EXP001 error"],
    );
    // A mask of the traced length is faulty as the left operand of MatMul; the right operand may be a weight.
    finds(
        18,
        "g (float[batch,seq,4] x) => (float[batch,2,4] y) <float[2,2] m = {1, 0, 1, 1}> { y = MatMul (m, x) }",
        &["EXP001 error"],
    );
    let squeeze = |dims: &str| {
        format!("g (float[{dims}] x) => (float[] y) <int64[1] first = {{0}}> {{ y = Squeeze (x, first) }}")
    };
    finds(18, &squeeze("batch,4"), &["EXP001 error"]);
    finds(18, &squeeze("1,4"), &[]);
    // The size of the axis is checked before the Squeeze, so it is not hard-coded.
    finds(
        18,
        "g (float[batch,4] x) => (float[] y) <int64[1] first = {0}, int64 zero = {0}> {
           s = Shape (x)  n = Gather (s, zero)  one = Constant <value_int = 1> ()  c = Equal (n, one)
           y = If (c) <then_branch = a () => (float[] p) { p = Squeeze (x, first) },
                       else_branch = b () => (float[] q) { q = Identity (x) }> }",
        &["SHP004 warning"],
    );
    // A Split of the features, and a bias for each column.
    finds(
        18,
        "g (float[batch,4] x) => (float[batch,2] a, float[batch,2] b) <int64[2] s = {2, 2}> { a, b = Split <axis = -1> (x, s) }",
        &[],
    );
    finds(
        18,
        "g (float[batch,4] x, float[4,2] w) => (float[batch,2] y) <float[1,2] c = {0, 1}> { y = Gemm (x, w, c) }",
        &[],
    );
}

#[test]
fn constants_of_the_traced_size_are_reported_where_they_meet_a_dynamic_size() {
    // A grid of the traced size, scaled by a dynamic value.
    let grid = "float[2,3] grid = {1, 2, 3, 4, 5, 6}";
    finds(
        17,
        &format!(
            "g (float[N,H,W] x) => (float[N,H,W] y) <{grid}> {{
               m = ReduceMean <keepdims = 0> (x)  g = Mul (grid, m)  y = Add (x, g) }}"
        ),
        &["EXP001 error", "EXP001 error"],
    );
    // The image has the size of the grid.
    finds(
        17,
        &format!(
            "g (float[N,2,3] x) => (float[N,2,3] y) <{grid}> {{
               m = ReduceMean <keepdims = 0> (x)  g = Mul (grid, m)  y = Add (x, g) }}"
        ),
        &[],
    );
}
