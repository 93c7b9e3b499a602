//! Regressions found by fuzzing and review.
//! Expected outputs are computed by hand from the specification, or follow ONNX Runtime. `check` requires the
//! expected outputs before and after `onnx-fix`; `check_text` requires parts of the fixed model. Both require
//! that a second run changes nothing.

mod converted;

use std::sync::Arc;

use onnx_lint::diag::Selection;
use onnx_lint::fix::{self, Options};
use onnx_lint::graph::{ElemType, Model};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write;

use onnx_lint::rule_tests::inputs::Inputs;
use onnx_lint::rule_tests::run::run;

fn model(opset: i64, graph: &str) -> Model {
    let text = format!("<ir_version: 8, opset_import: [\"\" : {opset}]> {graph}");
    let (model, findings) = read::text::read(&text);
    assert_eq!(findings, [], "the model of the test is invalid");
    model.expect("a model")
}

fn fixed(model: Model, options: &Options) -> Model {
    let outcome = fix::fix(model, options, &RuleSet::patterns());
    assert_eq!(outcome.findings, [], "the model is refused");
    outcome.model
}

type Feeds<'a> = &'a [(&'a str, Array)];

fn outputs(model: &Model, feeds: Feeds) -> Vec<Array> {
    let feeds: Inputs = feeds.iter().map(|(name, array)| (Arc::from(*name), array.clone())).collect();
    let values = run(model, &feeds).unwrap_or_else(|why| panic!("{why:?} in\n{}", write::text::write(model)));
    let tensor = |value| match value {
        Val::Tensor(array) => Array::clone(&array),
        other => panic!("not a tensor: {other:?}"),
    };
    values.into_iter().map(tensor).collect()
}

/// Returns true if two tensors are equal in every bit, except that all NaN are equal.
fn same(a: &Array, b: &Array) -> bool {
    let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let elements = |array: &Array| match array.elem().is_float() {
        true => array.f64s().map(|all| all.into_iter().map(bits).collect()).map_err(|_| array.to_raw()),
        false => Err(array.to_raw()),
    };
    let (left, right): (Result<Vec<u64>, _>, Result<Vec<u64>, _>) = (elements(a), elements(b));
    (a.elem(), a.shape(), left) == (b.elem(), b.shape(), right)
}

/// Asserts the outputs of a model, before and after fixing, and that a second run changes nothing.
#[track_caller]
fn check(opset: i64, graph: &str, feeds: Feeds, expected: &[Array]) {
    let before = model(opset, graph);
    let after = fixed(before.clone(), &Options::default());
    let written = write::text::write(&after);
    for (form, model) in [("original", &before), ("fixed", &after)] {
        let found = outputs(model, feeds);
        let is_same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(a, b));
        assert!(is_same, "{form}: {found:?}, not {expected:?}, from\n{written}");
    }
    assert_eq!(write::text::write(&fixed(after, &Options::default())), written, "the second run");
}

/// Asserts that a fixed model has some parts and lacks others, and that a second run changes nothing.
#[track_caller]
fn check_text(opset: i64, graph: &str, options: &Options, expected: &[&str], absent: &[&str]) {
    let once = fixed(model(opset, graph), options);
    let written = write::text::write(&once);
    for part in expected {
        assert!(written.contains(part), "`{part}` is not in\n{written}");
    }
    for part in absent {
        assert!(!written.contains(part), "`{part}` is in\n{written}");
    }
    assert_eq!(write::text::write(&fixed(once, options)), written, "the second run");
}

fn floats<const N: usize>(numbers: [f32; N]) -> Array {
    shaped(vec![N], &numbers)
}

fn shaped(shape: Vec<usize>, numbers: &[f32]) -> Array {
    let wide = numbers.iter().map(|&x| f64::from(x)).collect();
    Array::from_f64s(ElemType::Float, shape, wide).expect("a valid array")
}

fn ints<const N: usize>(numbers: [i64; N]) -> Array {
    Array::i64s(vec![N], numbers.to_vec()).expect("a valid array")
}

fn zeros(length: usize) -> Array {
    shaped(vec![length], &vec![0.0; length])
}

fn truth(value: bool) -> Array {
    Array::bools(vec![1], vec![value]).expect("a valid array")
}

#[test]
fn each_output_name_is_defined_once() {
    let graph = "g (float[2] x) => (float[2] y, float[2] z) <float[2] c = {1,2}, float[2] y = {1,2}> {
        z = Add (x, c)
    }";
    check(17, graph, &[("x", floats([1.0, 1.0]))], &[floats([1.0, 2.0]), floats([2.0, 3.0])]);
    let twice = "g (float[2] x) => (float[2] y, float[2] y) { t = Identity (x) y = Identity (t) }";
    check(17, twice, &[("x", floats([1.0, 1.0]))], &[floats([1.0, 1.0]), floats([1.0, 1.0])]);
}

#[test]
fn zero_times_an_unknown_value_is_not_folded() {
    let graph = "g (float[4] x) => (float[4] y) <float c = {0}> { y = Mul (x, c) }";
    let x = floats([f32::INFINITY, 1.0, -2.0, 0.0]);
    check(18, graph, &[("x", x)], &[floats([f32::NAN, 0.0, -0.0, 0.0])]);
    let product = "g (float[2] x) => (float r) {
        c = Constant <value_floats = [0.0]> ()
        t = Concat <axis = 0> (c, x)
        r = ReduceProd <keepdims = 0> (t)
    }";
    check(18, product, &[("x", floats([-1.0, 1.0]))], &[shaped(vec![], &[-0.0])]);
}

#[test]
fn integer_overflow_is_inferred() {
    let narrow = "g (float[N] x) => (bool[1] y) {
        s = Shape (x) a = Cast <to = 3> (s) z = Constant <value = int8[1] {0}> () y = Less (a, z)
    }";
    check(18, narrow, &[("x", zeros(200))], &[truth(true)]);
    check(18, narrow, &[("x", zeros(100))], &[truth(false)]);
    let product = "g (float[N] x) => (bool[1] y) {
        s = Shape (x) a = Cast <to = 6> (s) k = Constant <value = int32[1] {100000}> () m = Mul (a, k)
        z = Constant <value = int32[1] {0}> () y = Less (m, z)
    }";
    check(18, product, &[("x", zeros(30_000))], &[truth(true)]);
    check(18, product, &[("x", zeros(3))], &[truth(false)]);
}

#[test]
fn slices_with_negative_steps_are_folded_correctly() {
    let slice = |x: &str, start: i64, end: i64, step: i64| {
        format!(
            "g () => (int64[?] y) <int64[1] b = {{{start}}}, int64[1] e = {{{end}}}, int64[1] a = {{0}}, int64[1] s = {{{step}}}> {{
                x = Constant <value_ints = [{x}]> () y = Slice (x, b, e, a, s)
            }}"
        )
    };
    check(13, &slice("5", -2, i64::MIN, -2), &[], &[ints([5])]);
    check(13, &slice("5, 6, 7", 9, -9, -2), &[], &[ints([7, 5])]);
    // The result is empty in the specification, but {5} in ONNX Runtime: the node is not folded.
    check_text(13, &slice("5, 6", 0, i64::MAX, -1), &Options::default(), &["Slice"], &[]);
}

#[test]
fn missing_bound_of_clip_is_the_finite_range_of_the_type() {
    let x = || floats([f32::NEG_INFINITY, f32::INFINITY, 1.0]);
    let expected = floats([f32::MIN, 6.0, 1.0]);
    let constant = "t = Constant <value_floats = [-inf, inf, 1.0]> ()";
    let old = "g (float[3] x) => (float[3] y) { y = Clip <max = 6.0> (x) }";
    check(7, old, &[("x", x())], std::slice::from_ref(&expected));
    let folded = format!("g () => (float[3] y) <float m = {{6}}> {{ {constant} y = Clip (t, \"\", m) }}");
    check(13, &folded, &[], std::slice::from_ref(&expected));
}

#[test]
fn old_dropout_masks_and_resizes_match_onnx_runtime() {
    let mask = "g () => (bool[2] m) <float[2] x = {1,2}> { y, m = Dropout (x) }";
    check(10, mask, &[], &[Array::bools(vec![2], vec![false; 2]).expect("a valid array")]);
    check(13, mask, &[], &[Array::bools(vec![2], vec![true; 2]).expect("a valid array")]);
    // Elements 0 / 0.75, 1 / 0.75 and 2 / 0.75 of the input, rounded up because the scale is below 1.
    let resize = "g () => (float[?,?,?,?] y) <float[1,1,1,4] x = {0,1,2,3}, float[4] s = {1,1,1,0.75}> {
        y = Resize <mode = \"nearest\"> (x, s)
    }";
    check(10, resize, &[], &[shaped(vec![1, 1, 1, 3], &[0.0, 2.0, 3.0])]);
}

#[test]
fn coordinates_and_scales_are_computed_in_float() {
    // (1 + 0.5) / 0.6 - 0.5 is 2 in float, but less in double, since 0.6 as float is larger.
    let resize = "g () => (float[?] y) <float[5] x = {0,1,2,3,4}, float[1] s = {0.6}> {
        y = Resize <mode = \"nearest\", nearest_mode = \"floor\"> (x, \"\", s)
    }";
    check(13, resize, &[], &[floats([0.0, 2.0, 3.0])]);
    // (57 - 2) · (2 - 1) · 0.5 · 0.5 / 0.1 is 137.5, rounded to even 138, plus the zero point 2.
    let quantised = "g () => (uint8[1,1] y)
        <uint8[1,1] a = {57}, float s = {0.5}, uint8 z = {2}, uint8[1,1] b = {2}, uint8 zb = {1}, float o = {0.1}> {
        y = QLinearMatMul (a, s, z, b, s, zb, o, z)
    }";
    let expected = Array::from_ints(ElemType::Uint8, vec![1, 1], vec![140]).expect("a valid array");
    check(13, quantised, &[], &[expected]);
}

#[test]
fn pad_wraps_the_cropped_tensor() {
    let graph = "g () => (float[?] y) <float[4] x = {0,1,2,3}, int64[2] p = {2,-1}> {
        y = Pad <mode = \"wrap\"> (x, p)
    }";
    check(20, graph, &[], &[floats([1.0, 2.0, 0.0, 1.0, 2.0])]);
}

#[test]
fn optional_outputs_whose_presence_matters_are_kept() {
    let attention = "g (float[1,1,1,2] q, float[1,1,1,2] k, float[1,1,1,2] pk) => (float[?,?,?,?] y) {
        y, a, b = Attention (q, k, k, \"\", pk, pk)
    }";
    check_text(24, attention, &Options::default(), &["y, a, b = Attention"], &[]);
    let parameters = "float[2] s, float[2] b, float[2] m, float[2] v";
    let norm = |attrs: &str, outputs: &str| {
        format!(
            "g (float[A,2,C] x, {parameters}) => (float[A,2,C] y) {{
                {outputs} = BatchNormalization <{attrs}> (x, s, b, m, v)
            }}"
        )
    };
    let training = norm("training_mode = 1", "y, n, w");
    check_text(17, &training, &Options::default(), &["y, n, w = BatchNormalization"], &[]);
    let before = norm("epsilon = 0.001", "y, n, w, o, p");
    check_text(9, &before, &Options::default(), &["y, n, w, o, p = BatchNormalization"], &[]);
}

#[test]
fn branch_outputs_of_unknown_shape_are_not_folded_before_opset_11() {
    let graph = "g (bool b) => (int64[P,Q] y) {
        y = If (b) <
            then_branch = t () => (int64[a,c] p) { p = Constant <value = int64[1,2] {1,2}> () },
            else_branch = e () => (int64[d,f] r) { k = Constant <value = int64[3] {1,2,3}> () r = NonZero (k) }
        >
    }";
    check_text(10, graph, &Options::default(), &["NonZero"], &[]);
    check_text(11, graph, &Options::default(), &[], &["NonZero"]);
}

#[test]
fn unselected_fixes_are_not_applied() {
    let windows = "g (float[N,4] x) => (float[?,?] y) <int64[2] s = {2,2}> { y = Reshape (x, s) }";
    let x = shaped(vec![1, 4], &[0.0, 1.0, 2.0, 3.0]);
    check(17, windows, &[("x", x)], &[shaped(vec![2, 2], &[0.0, 1.0, 2.0, 3.0])]);
    let heads = "g (float[2,T,6] x) => (float[?,?,?,?] y) <int64[4] s = {2,3,2,3}> { y = Reshape (x, s) }";
    check_text(17, heads, &Options::default(), &["{2,0,2,3}"], &[]);
    for ignored in ["FIX021", "EXP001"] {
        let selection = Selection::new(vec!["ALL".to_owned()], vec![ignored.to_owned()]);
        let options = Options { selection, ..Options::default() };
        check_text(17, heads, &options, &["{2,3,2,3}"], &[]);
    }
}

#[test]
fn unsafe_fixes_keep_ambiguous_constants() {
    let options = Options { unsafe_fixes: true, ..Options::default() };
    let pieces = "g (float[batch,4,H,W] x) => (float[?,16] y) <int64[2] s = {-1,16}> { y = Reshape (x, s) }";
    check_text(17, pieces, &options, &["{-1,16}"], &[]);
    let windows =
        "g (float[batch,1,T] x) => (float[?,1,16] y) <int64[3] s = {-1,1,16}> { y = Reshape (x, s) }";
    check_text(17, windows, &options, &["{-1,1,16}"], &[]);
    // If the batch has no name, a hard-coded size beside a -1 is not reported, and therefore not fixed.
    let unnamed = "g (float[?,3,H,W] x) => (float[?,3,16] y) <int64[3] s = {-1,3,16}> { y = Reshape (x, s) }";
    check_text(17, unnamed, &options, &["{-1,3,16}"], &[]);
    let named =
        "g (float[batch,3,H,W] x) => (float[?,3,?] y) <int64[3] s = {-1,3,16}> { y = Reshape (x, s) }";
    check_text(17, named, &options, &["{0,0,-1}"], &[]);
    let variance = "g (float[N] x) => (float y) <int64[1] a = {0}, double two = {2}> {
        d = Cast <to = 11> (x)
        m = ReduceMean (d, a)
        c = Sub (d, m)
        h = Mul (d, two)
        q = Mul (c, h)
        v = ReduceMean <keepdims = 0> (q, a)
        y = Cast <to = 1> (v)
    }";
    check_text(
        18,
        variance,
        &options,
        &["d = Cast <to: int = 11> (x)", "h = Mul (d, two)", "q = Mul (c, h)"],
        &[],
    );
    let doubled = "g (float[N,T] x) => (int64[1] y) <int64[1] k = {2}> {
        n = Shape <start = 1, end = 2> (x) m = Add (n, k) y = Add (m, m)
    }";
    let x = shaped(vec![2, 3], &[0.0; 6]);
    check(17, doubled, &[("x", x)], &[ints([10])]);
}

#[test]
fn resize_of_the_batch_keeps_its_outputs() {
    let decoder = "g (float[N,1,H,W] skip, float[1,1,h,w] x) => (float[?,2,?,?] y) {
        s = Constant <value_ints = [2, 1, 1, 2]> ()
        r = Resize <mode = \"nearest\"> (x, \"\", \"\", s)
        y = Concat <axis = 1> (skip, r)
    }";
    let skip = shaped(vec![2, 1, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
    let feeds = [("skip", skip), ("x", shaped(vec![1, 1, 1, 2], &[5.0, 6.0]))];
    check(17, decoder, &feeds, &[shaped(vec![2, 2, 1, 2], &[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 5.0, 6.0])]);
}

#[test]
fn second_run_changes_nothing() {
    let unused = "g (float[2,3] x) => (float[2,3] z, bool[2,3] m) { y, m = Dropout (x) z = Relu (y) }";
    check_text(17, unused, &Options::default(), &["y, m = Dropout"], &[]);
    let invented = "g (float[N] x) => (float[?] y) { a, b = Unique (x) y = Relu (a) }";
    let options = Options { infer_shapes: true, ..Options::default() };
    check_text(17, invented, &options, &["float[a_dim_0] y"], &[]);
    let stated = "g (float[N] x) => (int64[1,found] y) { a = NonZero (x) y = Abs (a) }";
    check_text(17, stated, &options, &["int64[1,found] y", "int64[1,found] a"], &[]);
    let handed_on = "g (bool c, float[N] x) => (float[?] y) {
        y = If (c) <
            then_branch = t () => (float[K] a) { [first] b = Identity (x) [second] a = Identity (b) },
            else_branch = e () => (float[L] d) { d = Neg (x) }
        >
    }";
    check_text(17, handed_on, &Options::default(), &["[second] a = Identity (x)"], &[]);
    let dead = "g (int32[3] x) => (float[?] y) <float[3] c = {1,2,3}> {
        k = Constant <value = int64 {2}> ()
        y = Loop (k, \"\", c) <body = b (int64 i, bool cc, float[3] s) => (bool co, float[3] so) {
            u = Cast <to = 1> (x) co = Identity (cc) so = Relu (s)
        }>
    }";
    check_text(17, dead, &Options::default(), &["float[3] y =  {1,2,3}"], &["Loop"]);
    let known_at_last = "g (float[B] x) => (float[?,?] y) <float[2,2] c = {1,2,3,4}, int64[2] n = {1,1}> {
        a = CastLike (c, x) y = Resize (a, \"\", \"\", n)
    }";
    check_text(19, known_at_last, &Options::default(), &[], &["Resize", "CastLike"]);
    let replaced = "g (float[batch,3,4,4] x, int64[4] s) => (float[?,?,?,?] y) <int64[4] s = {2,3,8,8}> {
        y = Resize (x, \"\", \"\", s)
    }";
    let options = Options { unsafe_fixes: true, ..Options::default() };
    check_text(13, replaced, &options, &["Concat"], &["int64[4] s"]);
}

#[test]
fn opset_of_a_new_operator_is_imported() {
    // The outputs are equal: after merging, an Identity defines the second one.
    let text = "<ir_version: 8, opset_import: [\"ai.onnx.ml\" : 3]> g (float[1,3] x) => (float[1,3] y, float[1,3] z) {
        y = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x)
        z = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x)
    }";
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the model of the test is invalid");
    let after = fixed(model.expect("a model"), &Options::default());
    let written = write::text::write(&after);
    assert!(written.contains("Identity") && written.contains("\"\" : 18"), "{written}");
    assert_eq!(write::text::write(&fixed(after, &Options::default())), written, "the second run");
}

/// If Identity does not support the type of an output, the producer of the output must be kept.
#[test]
fn node_is_kept_if_identity_does_not_support_its_type() {
    let graph = "g () => (float6e3m2[2] y) <float6e3m2[2] x = {96,4}> { y = OptionalGetElement (x) }";
    check_text(28, graph, &Options::default(), &["OptionalGetElement"], &["Identity"]);
}

/// A subgraph may read an output of the outer graph that equals another output.
#[test]
fn output_that_a_subgraph_reads_is_kept() {
    let graph = "g (bool c, int64[1] x) => (int64[1] a, int64[1] y, int64[1] b)
        <int64[1] a = {5}, int64[1] b = {5}> {
        y = If (c) <then_branch = t () => (int64[1] p) { p = Add (x, b) },
                    else_branch = e () => (int64[1] q) { q = Sub (x, b) }>
    }";
    let feeds = [("c", Array::bools(vec![], vec![true]).expect("a valid array")), ("x", ints([2]))];
    check(17, graph, &feeds, &[ints([5]), ints([7]), ints([5])]);
}

/// The result of OneHot for an index of NaN depends on the runtime.
#[test]
fn nan_index_is_not_folded() {
    let graph = "g () => (float[1,2] y) <float[1] zero = {0}, int64 depth = {2}, float[2] values = {0, 1}> {
        place = Div (zero, zero)
        y = OneHot (place, depth, values)
    }";
    check_text(13, graph, &Options::default(), &["OneHot ("], &[]);
}
