//! Properties that rewrites must respect: repeated names, quantization nodes, and declared outputs.

use onnx_lint::extract::{CostModel, Objective};
use onnx_lint::fix::{Options, Outcome, fix};
use onnx_lint::graph::{Model, scopes};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write::text::write;

fn model(text: &str) -> Model {
    let (model, findings) =
        read::text::read(&format!("<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> {text}"));
    assert_eq!(findings, [], "{text}");
    model.expect("a model")
}

fn fixed(text: &str, options: &Options) -> Outcome {
    fix(model(text), options, &RuleSet::patterns())
}

/// Returns the fixed model as text.
fn written(outcome: &Outcome) -> String {
    assert_eq!(outcome.findings, []);
    write(&outcome.model)
}

/// Asserts that `text`, with repeated names, and `renamed`, with unique names, have equal fixed models.
#[track_caller]
fn reads_as(text: &str, renamed: &str) {
    let plain = Options { optimize: false, ..Options::default() };
    for options in [Options::default(), plain] {
        assert_eq!(written(&fixed(text, &options)), written(&fixed(renamed, &options)), "{text}");
    }
}

#[track_caller]
fn is_refused(text: &str, message: &str) {
    let outcome = fixed(text, &Options::default());
    let messages: Vec<&str> = outcome.findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(messages, [message], "{text}");
    assert!(!outcome.changed);
}

#[test]
fn repeated_name_refers_to_the_latest_definition() {
    let graph = |nodes: &str| format!("g (float[N,4] x) => (float[N,4] y) {{ {nodes} }}");
    reads_as(
        &graph("t = Relu (x)  t = Neg (t)  y = Abs (t)"),
        &graph("t = Relu (x)  t__1 = Neg (t)  y = Abs (t__1)"),
    );
    reads_as(
        &graph("a = Exp (x)  x = Relu (x)  y = Sub (a, x)"),
        &graph("a = Exp (x)  x__1 = Relu (x)  y = Sub (a, x__1)"),
    );
    reads_as(
        &graph("y = Relu (x)  a = Exp (y)  y = Neg (a)"),
        &graph("y__1 = Relu (x)  a = Exp (y__1)  y = Neg (a)"),
    );
    let weighted = |w: &str, nodes: &str| {
        format!("g (float[N,2] x) => (float[N,2] y) <float[2] w = {{1, 2}}{w}> {{ {nodes} }}")
    };
    reads_as(
        &weighted("", "v = Add (x, w)  w = Neg (v)  y = Mul (w, v)"),
        &weighted("", "v = Add (x, w)  w__1 = Neg (v)  y = Mul (w__1, v)"),
    );
}

#[test]
fn inner_names_may_shadow_outer_ones() {
    let graph = |then: &str| {
        format!(
            "g (bool c, float[N,4] x) => (float[N,4] y) {{
               t = Abs (x)
               z = If (c) <then_branch = a () => (float[N,4] p) {{ {then} }},
                           else_branch = b () => (float[N,4] q) {{ q = Exp (t) }}>
               y = Add (t, z) }}"
        )
    };
    reads_as(&graph("t = Neg (t)  p = Exp (t)"), &graph("t__1 = Neg (t)  p = Exp (t__1)"));
    let function = |body: &str| {
        format!(
            "g (float[N,4] x) => (float[N,4] y) {{ y = f.fn (x) }} <domain: \"f\", opset_import: [\"\" : 17]> fn (a) => (b) {{ {body} }}"
        )
    };
    reads_as(&function("a = Exp (a)  b = Neg (a)"), &function("a__1 = Exp (a)  b = Neg (a__1)"));
    reads_as(
        &function("b = Exp (a)  b = Neg (b)"),
        &function("b = Exp (a)  b__1 = Neg (b)").replace("=> (b)", "=> (b__1)"),
    );
}

#[test]
fn last_of_two_initializers_with_equal_names_is_used() {
    let graph =
        |weights: &str| format!("g (float[N,2] x) => (float[N,2] y) <{weights}> {{ y = Add (x, w) }}");
    let last = graph("float[2] w = {8, 9}");
    let outcome = fixed(&graph("float[2] w = {1, 2}, float[2] w = {8, 9}"), &Options::default());
    assert_eq!(written(&outcome).replace("w__1", "w"), written(&fixed(&last, &Options::default())));
}

#[test]
fn ambiguous_names_are_rejected() {
    let graph = |inputs: &str, nodes: &str| format!("g ({inputs}) => (float[N,4] y) {{ {nodes} }}");
    is_refused(
        &graph("float[N,4] x", "y = Abs (t)  t = Relu (x)  t = Neg (t)"),
        "`t` is defined 2 times, and the nodes are not in topological order",
    );
    is_refused(
        &graph("float[N,4] x, float[N,4] x", "y = Abs (x)"),
        "`x` is defined 2 times, and both are inputs",
    );
    is_refused(
        &graph("float[N,8] x", "t, t = Split <axis = 1> (x)  y = Abs (t)"),
        "`t` is defined 2 times, and one node produces both",
    );
    is_refused(
        "g (float[N,4] x) => (float[N,4] x) { x = Relu (x) }",
        "`x` is defined 2 times, and both are inputs or outputs of the model, which callers address by name",
    );
}

/// Counts the nodes that quantize or dequantize.
fn quantizations(outcome: &Outcome) -> usize {
    assert_eq!(outcome.findings, []);
    let model = &outcome.model;
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    nodes
        .filter(|&&node| {
            model.nodes[node].op_type.ends_with("QuantizeLinear") || model.nodes[node].is("DequantizeLinear")
        })
        .count()
}

const QUANTIZED: &str = "g (float[N,2] x) => (float[N,2] y)
    <int8[2,2] w = {1, 2, 3, 4}, float[2] s = {0.5, 0.25}, int8[2] z = {0, 0}, int32[2] b = {7, 8}, float f = {0.5}> {
      wd = DequantizeLinear <axis = 1> (w, s, z)
      t = Transpose <perm = [1, 0]> (wd)
      i = Identity (t)
      bd = DequantizeLinear (b, f)
      q = QuantizeLinear (f, f)
      qd = DequantizeLinear (q, f)
      m = MatMul (x, i)
      n = Mul (m, qd)
      y = Add (n, bd)
    }";

#[test]
fn quantization_of_constants_is_kept() {
    let all = quantizations(&fixed(QUANTIZED, &Options { optimize: false, ..Options::default() }));
    assert_eq!(all, 4);
    for objective in [Objective::Nodes, Objective::Size, Objective::Latency] {
        let pricing = CostModel { objective, ..CostModel::default() };
        for opset in [None, Some(13), Some(21)] {
            let options =
                Options { pricing: pricing.clone(), opset, unsafe_fixes: true, ..Options::default() };
            assert_eq!(quantizations(&fixed(QUANTIZED, &options)), all, "{objective:?} {opset:?}");
        }
    }
}

#[test]
fn products_of_dequantized_weights_are_not_fused() {
    let graph = |weight: &str| {
        format!(
            "g (float[N,2] x) => (float[N,2] y) <int8[2,2] w = {{1, 2, 3, 4}}, float s = {{0.5}}, float[2] b = {{7, 8}}, float[2,2] f = {{1, 2, 3, 4}}> {{
               d = DequantizeLinear (w, s)
               m = MatMul (x, {weight})
               y = Add (m, b) }}"
        )
    };
    let outcome = written(&fixed(&graph("d"), &Options::default()));
    assert!(outcome.contains("MatMul (x, d)") && outcome.contains("Add (m, b)"), "{outcome}");
    assert!(written(&fixed(&graph("f"), &Options::default())).contains("Gemm"));
    let asked = fixed(&graph("d"), &Options { fold_qdq: true, ..Options::default() });
    assert!(written(&asked).contains("Gemm"));
}

#[test]
fn quantization_of_constants_is_folded_on_request() {
    let outcome = fixed(QUANTIZED, &Options { fold_qdq: true, ..Options::default() });
    assert_eq!(quantizations(&outcome), 0);
}

#[test]
fn declared_outputs_do_not_narrow_inputs() {
    let text = "g (float[?,6] x) => (int64[1] label) { label = ArgMax <axis = 1, keepdims = 0> (x) }";
    let written_with = |options: &Options| written(&fixed(text, options));
    let plain = written_with(&Options::default());
    assert!(plain.contains("float[?,6] x") && plain.contains("int64[?] label"), "{plain}");
    let told = written_with(&Options { infer_shapes: true, ..Options::default() });
    assert!(told.contains("float[x_dim_0,6] x") && told.contains("int64[x_dim_0] label"), "{told}");
    let named = text.replace('?', "N");
    let outcome = written(&fixed(&named, &Options::default()));
    assert!(outcome.contains("int64[N] label"), "{outcome}");
}

#[test]
fn declared_outputs_do_not_enable_rewrites() {
    let text = "g (float[N] x) => (int64[1,7] y, int64[2] s) { y = NonZero (x)  s = Shape (y) }";
    let outcome = written(&fixed(text, &Options::default()));
    assert!(outcome.contains("Shape (y)"), "{outcome}");
}
