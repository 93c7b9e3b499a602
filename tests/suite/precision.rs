//! `onnx-fix --to` float16 and bfloat16: converted nodes, nodes kept in float32, and accuracy.

use onnx_lint::cli::fix::verify::arrays;
use onnx_lint::fix::precision::Precision;
use onnx_lint::fix::{Options, Outcome, fix};
use onnx_lint::graph::{ElemType, Model, NodeId, TypeKind, scopes};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::infer::{self};
use onnx_lint::read;
use onnx_lint::rule_tests::inputs::{self, Inputs, Numbers};
use onnx_lint::rule_tests::run::run;
use onnx_lint::rules::registry::RuleSet;

fn model(text: &str) -> Model {
    let (model, findings) = read::text::read(text);
    assert!(findings.is_empty(), "{findings:?}");
    model.expect("a model")
}

fn narrowed(before: &Model, to: ElemType, keep_io: bool) -> Outcome {
    let (rules, _) = RuleSet::embedded();
    let precision = Some(Precision { to, keep_io, measure: None });
    fix(before.clone(), &Options { precision, optimize: false, ..Options::default() }, &rules)
}

/// Returns each node with its output types, like `Add float16`; nodes of subgraphs follow all others.
fn nodes(model: &Model) -> Vec<String> {
    let facts = infer::infer(model, infer::Options::default());
    let name = |node: &NodeId| {
        let node = &model.nodes[*node];
        let made = node.outputs.iter().flatten().map(|&output| match facts[output].inner_elem() {
            Some(elem) => elem.name(),
            None => "?",
        });
        format!("{} {}", node.op_type, made.collect::<Vec<_>>().join(" "))
    };
    let mut live = scopes::live(model);
    live.sort_unstable();
    live.iter().flat_map(|&graph| &model.graphs[graph].nodes).map(name).collect()
}

/// Converts inputs to the declared types of a model.
fn as_declared(model: &Model, inputs: &Inputs) -> Inputs {
    let declared =
        model.graphs[model.main].inputs.iter().filter_map(|port| match &port.info.ty.as_ref()?.kind {
            TypeKind::Tensor { elem: Some(elem), .. } => {
                Some((model.values[port.value].name.clone(), ElemType::from_number(*elem)?))
            }
            _ => None,
        });
    let declared: Vec<_> = declared.collect();
    let of = |(name, array): (&std::sync::Arc<str>, &Array)| {
        let wanted = declared.iter().find(|(input, _)| input == name).map(|(_, elem)| *elem);
        let array = match wanted.filter(|&elem| elem != array.elem()) {
            Some(elem) => Array::from_f64s(elem, array.shape().to_vec(), array.f64s().expect("numbers")),
            None => Ok(array.clone()),
        };
        (name.clone(), array.expect("the numbers fit"))
    };
    inputs.iter().map(of).collect()
}

/// Asserts that the elements of outputs differ by at most 1 %, or by 0.01 if they are below 1.
fn near(wanted: &[Val], found: &[Val], what: &str) {
    assert_eq!(wanted.len(), found.len(), "{what}");
    for (wanted, found) in wanted.iter().zip(found) {
        let (Val::Tensor(wanted), Val::Tensor(found)) = (wanted, found) else { continue };
        assert_eq!(wanted.shape(), found.shape(), "{what}");
        let (wanted, found) = (wanted.f64s().expect("numbers"), found.f64s().expect("numbers"));
        for (a, b) in wanted.iter().zip(&found) {
            let is_near = (a - b).abs() <= 1e-2 * a.abs().max(1.0) || a == b || a.is_nan() && b.is_nan();
            assert!(is_near, "{what}: {a} became {b}\n{wanted:?}\n{found:?}");
        }
    }
}

/// Compares both models in our evaluator, and in ONNX Runtime if it is installed.
fn compare(before: &Model, after: &Model) {
    let sets = inputs::sets(before).expect("inputs");
    let sets: Vec<_> =
        sets.into_iter().filter(|set| matches!(set.numbers, Numbers::Small | Numbers::Positive)).collect();
    let mut runs = 0;
    for set in &sets {
        let Ok(wanted) = run(before, &set.inputs) else { continue };
        let found = run(after, &as_declared(after, &set.inputs));
        near(&wanted, &found.unwrap_or_else(|why| panic!("{why:?}: {:?}", nodes(after))), "in our evaluator");
        runs += 1;
    }
    assert!(runs > 0, "the model runs on none of {} inputs", sets.len());
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let mut first = arrays::load(before).expect("ONNX Runtime loads the original model");
    let mut second = arrays::load(after).unwrap_or_else(|why| panic!("{why}: {:?}", nodes(after)));
    for set in &sets {
        let Ok(wanted) = first(&set.inputs) else { continue };
        near(&wanted, &second(&as_declared(after, &set.inputs)).expect("the model runs"), "in ONNX Runtime");
    }
}

#[track_caller]
fn check_with(text: &str, keep_io: bool, expected: &[&str]) -> Outcome {
    let before = model(text);
    let outcome = narrowed(&before, ElemType::Float16, keep_io);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    assert_eq!(nodes(&outcome.model), expected);
    compare(&before, &outcome.model);
    outcome
}

#[track_caller]
fn check(graph: &str, expected: &[&str]) -> Outcome {
    check_with(&format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}"), false, expected)
}

#[test]
fn nodes_weights_and_interface_are_converted() {
    let outcome = check(
        "g (float[N,4] x) => (float[N,2] y) <float[4,2] w = {1,2,3,4,5,6,7,8}> { t = MatMul (x, w)  y = Relu (t) }",
        &["MatMul float16", "Relu float16"],
    );
    assert_eq!((outcome.report.to, outcome.report.kept.len()), (Some("float16"), 0));
    check_with(
        "<ir_version: 8, opset_import: [\"\" : 17]>
         g (float[N,4] x) => (float[N,4] y, float[N,4] z) { t = Relu (x)  y = Neg (t)  z = Abs (y) }",
        true,
        &["Cast float16", "Relu float16", "Neg float16", "Cast float", "Abs float"],
    );
}

#[test]
fn inputs_that_schemas_require_as_float_are_kept() {
    check(
        "g (float[1,2,N,4] x) => (float[1,2,M,K] y) <float[4] s = {1,1,2,2}> { t = Relu (x)  y = Resize (t, , s) }",
        &["Relu float16", "Resize float16"],
    );
    check(
        "g (float[4] x) => (int8[4] y) <float s = {0.5}, int8 z = {0}> { t = Relu (x)  y = QuantizeLinear (t, s, z) }",
        &["Relu float16", "Cast float", "QuantizeLinear int8"],
    );
}

/// Tests mask values beyond the float16 range, at its limit, and far below the scores.
/// A fully masked row must keep its result: a mask must not overflow to -inf, which gives NaN.
#[test]
fn masks_with_large_values_are_kept_in_float() {
    let graph = |mask: &str| {
        format!(
            "g (float[N,4] x, bool[N,4] m) => (float[N,4] y) <float low = {{{mask}}}, float zero = {{0}}> {{
               a = Where (m, zero, low)  t = Relu (x)  s = Add (t, a)  u = Add (s, a)  p = Softmax (u)  y = Relu (p) }}"
        )
    };
    let narrow =
        ["Where float16", "Relu float16", "Add float16", "Add float16", "Softmax float16", "Relu float16"];
    let wide = [
        "Where float",
        "Relu float16",
        "Cast float",
        "Add float",
        "Add float",
        "Softmax float",
        "Cast float16",
        "Relu float16",
    ];
    for mask in ["-1e9", "-3.4028234663852886e38", "-65504", "-10000"] {
        check(&graph(mask), &wide);
    }
    check(&graph("-100"), &narrow);
    check(&graph("-inf"), &narrow);
}

#[test]
fn bounds_of_a_clip_are_saturated() {
    check(
        "g (float[4] x) => (float[4] y) <float low = {-1e9}, float high = {1e9}> { y = Clip (x, low, high) }",
        &["Clip float16"],
    );
}

#[test]
fn statistics_of_a_normalization_are_kept_in_float() {
    let outcome = check(
        "g (float[N,4] x) => (float[N,4] y) <float two = {2}, float e = {1e-12}> {
           m = ReduceMean <axes = [-1]> (x)  d = Sub (x, m)  p = Pow (d, two)  v = ReduceMean <axes = [-1]> (p)
           w = Add (v, e)  s = Sqrt (w)  q = Div (d, s)  y = Relu (q) }",
        &[
            "ReduceMean float16", "Sub float16", "Cast float", "Pow float", "ReduceMean float", "Add float",
            "Sqrt float", "Div float", "Cast float16", "Relu float16",
        ],
    );
    let why: Vec<&str> = outcome.report.kept.iter().map(|kept| &*kept.why).collect();
    let passes = "values such as squares, exponentials or large sums may exceed the range of the type";
    assert!(why.contains(&passes), "{why:?}");
    assert!(why.contains(&"a small constant that prevents division by zero would be lost"), "{why:?}");
}

#[test]
fn large_integers_are_kept_in_float() {
    check(
        "g (float[N,4] x, int64[N,1] p) => (float[N,4] y) <float[1,4] f = {1,0.1,0.01,0.001}> {
           c = Cast <to = 1> (p)  a = MatMul (c, f)  s = Sin (a)  y = Mul (x, s) }",
        &["Cast float", "MatMul float", "Sin float", "Cast float16", "Mul float16"],
    );
    check(
        "g (float[N,4] x, int64[N,4] p) => (float[N,4] y) { c = Cast <to = 1> (p)  y = Mul (x, c) }",
        &["Cast float16", "Mul float16"],
    );
}

#[test]
fn explicit_casts_are_kept() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
        g (float16[N,4] x, float[4,4] v) => (float16[N,4] y) {
          c = Cast <to = 1> (x)  s = Softmax (c)  h = Cast <to = 10> (s)  w = Cast <to = 10> (v)  y = MatMul (h, w) }";
    check_with(text, false, &["Cast float", "Softmax float", "Cast float16", "MatMul float16"]);
}

#[test]
fn subgraph_types_match_the_node() {
    check(
        "g (float[4] x, bool c) => (float[4] y) {
           t = Relu (x)
           u = If (c) <then_branch = a () => (float[4] p) { p = Neg (t) },
                       else_branch = b () => (float[4] q) { two = Constant <value_float = 2.0> ()  q = Mul (t, two) }>
           y = Abs (u) }",
        &["Relu float16", "If float16", "Abs float16", "Neg float16", "Constant float16", "Mul float16"],
    );
    check(
        "g (float[4] x, float[4] e) => (float[4] y, float[K,4] z) <int64 n = {3}> {
           y, z = Loop (n, , x) <body = b (int64 i, bool c, float[4] s) => (bool d, float[4] r, float[4] o) {
             d = Identity (c)  r = Add (s, e)  o = Exp (s) }> }",
        &["Loop float16 float", "Cast float16", "Cast float", "Identity bool", "Add float16", "Exp float"],
    );
    check(
        "g (float[3,4] x, float[4] h) => (float[4] y, float[3,4] z) {
           y, z = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] e) => (float[4] r, float[4] o) {
             r = Add (s, e)  o = Identity (r) }> (h, x) }",
        &["Scan float16 float16", "Add float16", "Identity float16"],
    );
}

/// A mask in the branch of an If is kept in float32, and so is the Softmax after it.
#[test]
fn large_values_are_kept_in_float_inside_subgraphs() {
    check(
        "g (float[4] x, bool c) => (float[4] y) <float[4] low = {-1e9,-1e9,-1e9,-1e9}> {
           u = If (c) <then_branch = a () => (float[4] p) { p = Add (x, low) },
                       else_branch = b () => (float[4] q) { q = Identity (x) }>
           y = Softmax (u) }",
        &["Cast float", "If float", "Softmax float", "Cast float16", "Add float", "Identity float"],
    );
}

#[test]
fn functions_are_converted_with_their_calls() {
    let functions = |call: &str, types: &str| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]> g ({types}) => (float[4] y, {types2}) {{ {call} }}
             <domain: \"l\", opset_import: [\"\" : 17]> F (a) => (b) {{ one = Constant <value_float = 1.0> ()
               t = CastLike (one, a)  b = Add (a, t) }}",
            types2 = if types.contains("double") { "double[4] z" } else { "float[4] z" }
        )
    };
    check_with(
        &functions("y = l.F (x)  z = l.F (y)", "float[4] x"),
        false,
        &["F float16", "F float16", "Constant float16", "CastLike float16", "Add float16"],
    );
    check_with(
        &functions("t = l.F (x)  y = Relu (t)  z = l.F (d)", "float[4] x, double[4] d"),
        false,
        &[
            "Cast float",
            "F float",
            "Cast float16",
            "Relu float16",
            "F double",
            "Constant float",
            "CastLike ?",
            "Add ?",
        ],
    );
}

#[test]
fn sequences_have_one_type() {
    check(
        "g (float[4] x, int64 i) => (float[4] y) { t = Relu (x)  q = SequenceConstruct (t, x)  y = SequenceAt (q, i) }",
        &["Relu float16", "SequenceConstruct float16", "SequenceAt float16"],
    );
    check(
        "g (float[4] x, int64 i) => (float[4] y) {
           e = SequenceEmpty ()  q = SequenceInsert (e, x)  r = SequenceInsert (q, x)  y = SequenceAt (r, i) }",
        &["SequenceEmpty float16", "SequenceInsert float16", "SequenceInsert float16", "SequenceAt float16"],
    );
}

#[test]
fn weights_are_stored_in_each_type_in_use() {
    check(
        "g (float[N,4] x) => (float[N,4] y, float[N,4] z) <float[4] w = {1,2,3,4}> {
           y = Add (x, w)  e = Exp (x)  z = Mul (e, w) }",
        &["Cast float", "Add float16", "Exp float", "Mul float", "Cast float16"],
    );
}

#[test]
fn bfloat16_has_the_range_of_float() {
    let before = model(
        "<ir_version: 8, opset_import: [\"\" : 17]>
         g (float[N,4] x) => (float[N,4] y) <float k = {1e9}> { e = Exp (x)  s = Mul (e, k)  y = Relu (s) }",
    );
    let outcome = narrowed(&before, ElemType::Bfloat16, false);
    assert_eq!(nodes(&outcome.model), ["Exp bfloat16", "Mul bfloat16", "Relu bfloat16"]);
}

/// From IR version 4 on, a caller may override the default of an input.
/// Before IR version 4, every initializer is an input, so an input with a default is a weight.
#[test]
fn inputs_with_defaults_are_converted_as_inputs_from_ir_version_4() {
    let text = |ir: u32| {
        format!(
            "<ir_version: {ir}, opset_import: [\"\" : 9]>
             g (float[N,2] x, float[2,2] w = {{1,2,3,4}}) => (float[N,2] y) {{ y = MatMul (x, w) }}"
        )
    };
    check_with(&text(3), true, &["Cast float16", "MatMul float16", "Cast float"]);
    check_with(&text(8), true, &["Cast float16", "Cast float16", "MatMul float16", "Cast float"]);
    check_with(&text(8), false, &["MatMul float16"]);
}
