//! Graphs of the exporter based on torch.export, which records the ranges of dimensions.

/// Checks a model of the exporter based on torch.export, with recorded ranges of dimensions.
#[track_caller]
fn exported(ranges: &str, graph: &str, expected: &[&str]) {
    let key = "pkg.torch.export.ExportedProgram.range_constraints";
    let header =
        format!("<ir_version: 10, opset_import: [\"\" : 18], metadata_props: [\"{key}\" : \"{ranges}\"]>");
    super::finds_in(&format!("{header}\n{graph}"), expected);
}

#[test]
fn constants_in_torch_export_graphs_are_intended() {
    let views = "g (float[s77,3,4] x) => (float[2,M] y) <int64[2] s = {2, 6}> { y = Reshape (x, s) }";
    exported("{s77: VR[0, int_oo]}", views, &[]);
    // The dimension was made dynamic after the export.
    exported("{}", views, &["EXP001 error"]);
    let sum = "g (float[N,L] x) => (bool c) <int64 at = {1}, int64 two = {2}> {
        s = Shape (x)  n = Gather <axis = 0> (s, at)  m = Add (n, two)  c = Equal (m, m) }";
    exported("{L: VR[0, int_oo]}", sum, &[]);
}

#[test]
fn specialized_sizes_of_torch_export_are_reported() {
    let graph = "g (float[s77,s27] x) => (float[s77,s27] y) { y = Relu (x) }";
    exported("{s77: VR[0, int_oo], s27: VR[6, 6]}", graph, &["EXP001 warning"]);
    // A range with more than one size may be the user's request.
    exported("{s77: VR[2, 64], s27: VR[0, int_oo]}", graph, &[]);
}

#[test]
fn sizes_without_a_guard_are_reported() {
    // `int(x.shape[0] / 4)` has no guard, because the quotient is a floating-point number.
    let graph = "g (float[s77,2,2] x) => (y) <int64[3] s = {1, 4, -1}> { y = Reshape (x, s) }";
    exported("{s77: VR[0, int_oo]}", graph, &["EXP001 warning"]);
    exported("{s77: VR[4, 4]}", graph, &["EXP001 warning"]);
    let rows = "g (float[s77,4] x) => (y) <int64[3] s = {2, -1, 4}> { y = Reshape (x, s) }";
    exported("{s77: VR[0, int_oo]}", rows, &[]);
    // `x.reshape(int(x.shape[0] * x.shape[1]))` exports, although only one product is possible.
    let product = "g (float[s77,s27] x) => (float[12] y) <int64[1] s = {12}> { y = Reshape (x, s) }";
    exported("{s77: VR[0, int_oo], s27: VR[0, int_oo]}", product, &["EXP001 error"]);
}

#[test]
fn unrolled_loops_over_sizes_of_the_example_are_reported() {
    let step =
        |t: usize, h: &str| format!("a{t} = MatMul (s{t}, w)  b{t} = Add (a{t}, {h})  h{t} = Tanh (b{t})");
    let body = format!("{} {} {} {}", step(0, "h"), step(1, "h0"), step(2, "h1"), step(3, "h2"));
    let graph = format!(
        "g (float[4,2,8] x, float[8,8] w, float[1,2,8] h) => (float[1,2,8] h3) {{
           s0, s1, s2, s3 = Split <axis = 0, num_outputs = 4> (x)  {body} }}"
    );
    exported("{}", &graph, &["EXP007 warning"]);
}
