//! Regressions in opset conversions.

use onnx_lint::fix::Options;
use onnx_lint::infer::eval::Array;

use super::{check_text, fixed, floats, model, outputs, shaped};

/// Reshape cannot infer a -1 if another dimension is 0, so a decomposition must avoid the -1.
#[test]
fn attention_with_an_empty_batch_keeps_its_heads() {
    let attention = "g (float[B,3,32] q, float[B,5,16] k, float[B,5,16] v) => (float[B,3,32] y) {
        y = Attention <kv_num_heads = 2, q_num_heads = 4> (q, k, v)
    }";
    let rotary = "g (float[B,3,24] q, float[B,3,2] k, float[B,3,2] v) => (float[B,3,24] y) {
        y = RotaryEmbedding <num_heads = 3, rotary_embedding_dim = 4> (q, k, v)
    }";
    let none = |rows, columns| shaped(vec![0, rows, columns], &[]);
    for (graph, q, k) in [(attention, none(3, 32), none(5, 16)), (rotary, none(3, 24), none(3, 2))] {
        let after = fixed(model(23, graph), &Options { opset: Some(17), ..Options::default() });
        let feeds = [("q", q.clone()), ("k", k.clone()), ("v", k)];
        assert_eq!(outputs(&after, &feeds), [q]);
    }
}

/// Before opset 9, constants of a subgraph move to the main graph.
/// If a moved constant is an output of the subgraph, an Identity in the subgraph defines the output.
#[test]
fn subgraph_outputs_are_defined_in_the_subgraph_before_opset_9() {
    let graph = "g (bool c, float[2] x) => (bool[2] y) {
        y = If (c) <then_branch = a () => (bool[2] p) { p = IsNaN (x) },
                    else_branch = b () => (bool[2] q) <bool[2] q = {1,0}> { r = Neg (x) }>
    }";
    let options = Options { opset: Some(8), ..Options::default() };
    check_text(9, graph, &options, &["q = Identity (q__1)"], &[]);
}

/// Before opset 9, an Identity defines a model output that is a constant.
/// Nodes that use the constant read the initializer, not the output of the Identity.
#[test]
fn output_constant_is_read_from_its_initializer() {
    let graph = "g (float[A] x) => (float[?] y, int64 n) {
        n = Constant <value = int64 {2}> ()
        y = Loop (n, \"\", x) <body = b (int64 i, bool go, float[?] a) => (go, a) { }>
    }";
    let options = Options { opset: Some(8), ..Options::default() };
    check_text(13, graph, &options, &["n = Identity (n__1)", "y = Loop (n__1, "], &[]);
}

/// Before IR version 4, every initializer is an input with a default.
#[test]
fn initializers_become_inputs_with_defaults_before_ir_version_4() {
    let graph = "g (bool c) => (bool y) <bool yes = {1}, int64 n = {3}> {
        go = Or (c, yes)
        y = Loop (n, \"\", go) <body = b (int64 i, bool more, bool last) => (more, more) { }>
    }";
    let options = Options { opset: Some(7), ..Options::default() };
    check_text(18, graph, &options, &["= Identity (", " =  {1}>"], &["int64 n"]);
    let text = "g () => (string[2] y) { y = Constant <value = string[2] {\"a\", \"b\"}> () }";
    check_text(18, text, &options, &["y = Identity (y__"], &["Constant"]);
}

/// Tests the conversion of GatherND with an empty output.
#[test]
fn operators_on_empty_axes_are_converted() {
    let gathered = "g (float[1,A,B] x, int64[0,2] i) => (float[0,B] y) { y = GatherND (x, i) }";
    let after = fixed(model(13, gathered), &Options { opset: Some(10), ..Options::default() });
    let none = Array::i64s(vec![0, 2], vec![]).expect("a valid array");
    let feeds = [("x", shaped(vec![1, 2, 0], &[])), ("i", none)];
    assert_eq!(outputs(&after, &feeds), [shaped(vec![0, 0], &[])]);
}

/// A Resize uses the scales of an Upsample without rounding.
#[test]
fn upsample_becomes_a_bit_exact_resize() {
    let graph =
        "g (float[1,1,2,3] x, float[4] s) => (float[1,A,B,C] y) { y = Upsample <mode = \"linear\"> (x, s) }";
    let x = shaped(vec![1, 1, 2, 3], &[1.0, 1.25, 2.875, 2.625, 0.5, 1.375]);
    let feeds = [("x", x), ("s", floats([1.0, 1.0, 1.375, 2.75]))];
    let before = model(9, graph);
    let after = fixed(before.clone(), &Options { opset: Some(19), ..Options::default() });
    assert_eq!(outputs(&before, &feeds), outputs(&after, &feeds));
}
