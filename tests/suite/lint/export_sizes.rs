//! EXP001 and SHP001: sizes that fit only some values of a dynamic dimension.

use super::finds;

#[test]
fn reshape_that_mixes_rows_of_the_batch_is_reported() {
    let mixes = ["EXP001 warning"];
    // Each block has b elements, but each row has 4: `x.view(int(x.shape[0] / 4), 4, -1)`.
    finds(17, "g (float[b,2,2] x) => (y) <int64[3] s = {1, 4, -1}> { y = Reshape (x, s) }", &mixes);
    finds(17, "g (float[b,6] x) => (y) <int64[2] s = {2, -1}> { y = Reshape (x, s) }", &mixes);
    // Windows of an image.
    finds(
        17,
        "g (float[b,16,4] x) => (y) <int64[3] a = {-1, 4, 4}, int64[6] s = {1, 2, 2, 2, 2, -1}> {
           w = Reshape (x, a)  y = Reshape (w, s) }",
        &mixes,
    );
    for intended in [
        // Blocks of whole rows: two views of each sample.
        "g (float[b,5] x) => (y) <int64[3] s = {2, -1, 5}> { y = Reshape (x, s) }",
        // All rows in one block.
        "g (float[b,3] x) => (y) <int64[3] s = {1, -1, 3}> { y = Reshape (x, s) }",
        "g (float[b,3] x) => (y) <int64[2] s = {1, -1}> { y = Reshape (x, s) }",
        // The axis is not known to be dynamic.
        "g (float[?,6] x) => (y) <int64[2] s = {2, -1}> { y = Reshape (x, s) }",
        "g (float[8,6] x) => (y) <int64[2] s = {2, -1}> { y = Reshape (x, s) }",
    ] {
        finds(17, intended, &[]);
    }
}

#[test]
fn rounded_fraction_of_a_size_is_tried_at_other_sizes() {
    let graph = |rounding: &str, rest: &str| {
        format!(
            "g (float[b,2,2] x) => (y) <int64 zero = {{0}}, float four = {{4}}, int64[1] at = {{0}}, {rest}> {{
               d = Shape (x)  n = Gather <axis = 0> (d, zero)  f = Cast <to = 1> (n)  q = Div (f, four)
               r = {rounding} (q)  i = Cast <to = 7> (r)  u = Unsqueeze (i, at)
               t = Concat <axis = 0> (u, k)  y = Reshape (x, t) }}"
        )
    };
    finds(17, &graph("Ceil", "int64[2] k = {4, -1}"), &["SHP001 warning"]);
    // With a divisor of 1, every size works: 4 · b elements in b rows of 4.
    finds(17, &graph("Ceil", "int64[2] k = {-1, 1}").replace("four = {4}", "four = {1}"), &[]);
}

#[test]
fn axis_named_after_its_size_is_tried_at_other_sizes() {
    let header = "<ir_version: 10, opset_import: [\"\" : 18]>";
    let check = |graph: &str, expected: &[&str]| super::finds_in(&format!("{header}\n{graph}"), expected);
    let table = "<float[3,4] t = {1,2,3,4,5,6,7,8,9,10,11,12}>";
    check(&format!("g (float[\"3\",4] x) => (y) {table} {{ y = Add (x, t) }}"), &["EXP001 warning"]);
    check("g (float[\"3\",4] x) => (y) { y = Relu (x) }", &[]);
}

#[test]
fn adaptive_pooling_with_a_constant_window_is_reported() {
    let graph = |size: &str| {
        format!(
            "g (float[n,3,{size},{size}] x) => (y) {{ y = AveragePool <kernel_shape = [2,2], strides = [2,2]> (x) }}"
        )
    };
    let found = |size: &str, name: &str, key: &str| {
        let mut model = super::model_of(18, &graph(size));
        let node = model.nodes.iter().map(|(id, _)| id).next().expect("a node");
        model.nodes[node].name = Some(name.into());
        model.nodes[node].metadata.push((key.into(), "['net.Net', 'torch.nn.AdaptiveAvgPool2d']".into()));
        super::found_in("EXP001", model).len()
    };
    assert_eq!(found("h", "node_pool", "pkg.torch.onnx.class_hierarchy"), 1);
    assert_eq!(found("8", "node_pool", "pkg.torch.onnx.class_hierarchy"), 0);
    finds(18, &graph("h"), &[]);
}

#[test]
fn sequence_lengths_have_their_own_advice() {
    let (model, _) = onnx_lint::read::text::read(
        "<ir_version: 8, opset_import: [\"\" : 17]>
         g (float[S,B,5] x, float[1,16,5] w, float[1,16,4] r) => (y) <int32[3] n = {7, 5, 3}> {
           y = LSTM <hidden_size = 4> (x, w, r, \"\", n) }",
    );
    let found = onnx_lint::lint::lint_model(&model.expect("a model"), &super::by_code());
    let help = found[0].help.as_deref().expect("advice");
    assert!(help.starts_with("pass the lengths"), "{help}");
}
