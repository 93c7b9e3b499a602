//! `onnx-diff` on computations that two exporters write with different views.

use std::sync::LazyLock;

use onnx_lint::diff::{Equivalence, compare};
use onnx_lint::{Model, RuleSet, read};

/// All rules, loaded once for all tests.
static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

fn model(graph: &str) -> Model {
    let text = format!("<ir_version: 8, opset_import: [\"\" : 18]>\n{graph}\n");
    let (model, findings) = read::text::read(&text);
    assert_eq!(findings, [], "{text}");
    model.expect("a model")
}

/// Checks that two graphs are proved equal, and that each change of the second is not.
#[track_caller]
fn check(a: &str, b: &str, changes: &[(&str, &str)]) {
    let (first, second) = (model(a), model(b));
    let comparison = compare(&first, &second, &RULES);
    assert_ne!(comparison.computes, Equivalence::Unknown, "{a}\n{b}\n{comparison:#?}");
    for (from, to) in changes {
        assert!(b.contains(from), "{b} does not contain {from}");
        let comparison = compare(&first, &model(&b.replace(from, to)), &RULES);
        assert_eq!(comparison.computes, Equivalence::Unknown, "{from} -> {to}");
    }
}

#[test]
fn heads_are_transposed_as_matrices_or_as_heads() {
    check(
        "g (float[B,6,8] x) => (float[B,2,4,6] y) <int64[4] s = {0,6,2,4}> {
            h = Reshape (x, s)  y = Transpose <perm = [0,2,3,1]> (h)
        }",
        "g (float[B,6,8] x) => (float[B,2,4,6] y) <int64[4] s = {0,6,2,4}, int64[3] m = {-1,6,4}, int64[4] r = {-1,2,4,6}> {
            h = Reshape (x, s)  t = Transpose <perm = [0,2,1,3]> (h)  f = Reshape (t, m)
            u = Transpose <perm = [0,2,1]> (f)  y = Reshape (u, r)
        }",
        &[("perm = [0,2,1]>", "perm = [0,1,2]>"), ("{0,6,2,4}", "{0,6,4,2}"), ("{-1,2,4,6}", "{-1,4,2,6}")],
    );
}

#[test]
fn products_of_flattened_rows_are_products_of_rows() {
    check(
        "g (float[B,S,3] x) => (float[B,S,2] y) <float[3,2] w = {1,2,3,4,5,6}, float[2] b = {7,8}> {
            p = MatMul (x, w)  y = Add (p, b)
        }",
        "g (float[B,S,3] x) => (float[B,S,2] y)
            <float[2,3] w = {1,3,5,2,4,6}, float[2] b = {7,8}, int64[2] f = {-1,3}, int64[1] two = {2}> {
            n = Shape <end = 2> (x)  s = Concat <axis = 0> (n, two)
            f2 = Reshape (x, f)  p = Gemm <transB = 1> (f2, w, b)  y = Reshape (p, s)
        }",
        &[
            ("{7,8}", "{8,7}"),
            ("{1,3,5,2,4,6}", "{1,3,5,2,4,7}"),
            ("<transB = 1>", "<transB = 1, alpha = 2.0>"),
        ],
    );
}

#[test]
fn gathers_splits_and_slices_are_parts() {
    check(
        "g (float[B,3,4] x) => (float[B,4] y, float[B,2,4] z) <int64 one = {1}, int64[2] s = {1,2}> {
            y = Gather <axis = 1> (x, one)  h, z = Split <axis = 1> (x, s)
        }",
        "g (float[B,3,4] x) => (float[B,4] y, float[B,2,4] z)
            <int64[1] f = {1}, int64[1] t = {2}, int64[1] m = {-2}, int64[1] e = {9223372036854775807}, int64[1] a = {1}> {
            p = Slice (x, f, t, a)  y = Squeeze (p, a)  z = Slice (x, m, e, a)
        }",
        &[("f = {1}, int64[1] t = {2}", "f = {0}, int64[1] t = {1}"), ("m = {-2}, int64[1] e = {9223372036854775807}", "m = {0}, int64[1] e = {2}")],
    );
}

#[test]
fn joined_parts_are_the_whole_in_order_only() {
    check(
        "g (float[B,4] x) => (float[B,4] y) { y = Relu (x) }",
        "g (float[B,4] x) => (float[B,4] y) <int64[2] s = {1,3}> {
            p, q = Split <axis = 1> (x, s)  c = Concat <axis = 1> (p, q)  y = Relu (c)
        }",
        &[("(p, q)  y", "(q, p)  y")],
    );
}

#[test]
fn reductions_ignore_how_neighboring_axes_are_split() {
    check(
        "g (float[B,3,4,5] x) => (float[B,3] y) { p = GlobalAveragePool (x)  y = Flatten (p) }",
        "g (float[B,3,4,5] x) => (float[B,3] y) <int64[2] a = {2,3}> { y = ReduceMean <keepdims = 0> (x, a) }",
        &[("ReduceMean", "ReduceMax")],
    );
}

#[test]
fn broadcast_operands_keep_their_axis() {
    check(
        "g (float[B,2,2] x, float[2] s) => (float[B,2,2] y) { y = Mul (x, s) }",
        "g (float[B,2,2] x, float[2] s) => (float[B,2,2] y) <int64[2] f = {-1,2}, int64[3] r = {-1,2,2}> {
            p = Reshape (x, f)  q = Mul (p, s)  y = Reshape (q, r)
        }",
        &[(
            "q = Mul (p, s)",
            "o = Constant <value_ints = [1]> ()  t = Unsqueeze (s, o)  v = Reshape (x, r)  q = Mul (v, t)",
        )],
    );
}

/// Checks that two graphs are not proved to be equal to this degree or a stronger one.
#[track_caller]
fn check_differ(a: &str, b: &str, than: Equivalence) {
    let comparison = compare(&model(a), &model(b), &RULES);
    assert!(comparison.computes > than || !comparison.interface.is_empty(), "{a}\n{b}\n{comparison:#?}");
}

/// An Expand can repeat the single element of a symbolic axis.
#[test]
fn expanded_axes_of_unknown_size_are_not_dropped() {
    let small =
        "g (float[N] x) => (float y) <float c = {2}> { m = Mul (x, c)  y = ReduceSum <keepdims = 0> (m) }";
    let large = "g (float[N] x) => (float y) <int64[1] s = {5}, float c = {2}> {
        e = Expand (x, s)  m = Mul (e, c)  y = ReduceSum <keepdims = 0> (m)
    }";
    check_differ(large, small, Equivalence::Rounded);
    let of_other = "g (float[N] x, float[M] z) => (float y) <float c = {2}> {
        h = Shape (z)  e = Expand (x, h)  m = Mul (e, c)  y = ReduceSum <keepdims = 0> (m)
    }";
    let two = small.replace("float[N] x", "float[N] x, float[M] z");
    check_differ(of_other, &two, Equivalence::Rounded);
    // The size is told, or the axis is new.
    let known = [large.replace("[N]", "[5]"), small.replace("[N]", "[5]")];
    check(&known[0], &known[1], &[("ReduceSum", "ReduceMean")]);
}

/// Sums of three numbers round differently in another order.
///
/// The larger of two zeros has the sign of either.
#[test]
fn reordered_operands_are_not_bit_exact() {
    for op in ["Sum", "Mean", "Max"] {
        let graph = |operands: &str| {
            format!("g (float[N] x, float[N] z, float[N] w) => (float[N] y) {{ y = {op} ({operands}) }}")
        };
        check_differ(&graph("x, z, w"), &graph("w, x, z"), Equivalence::Exactly);
        check(&graph("x, z, w"), &graph("w, x, z"), &[("w, x, z", "w, x, x")]);
    }
}

/// Places outside of the axis are no error of the comparison.
#[test]
fn extreme_places_are_compared() {
    let graph = |nodes: &str| {
        format!(
            "g (float[2,3] x) => (float[2,3] y) <int64[2] i = {{9223372036854775807,-9223372036854775808}}> {{ {nodes} }}"
        )
    };
    let (a, b) = (graph("q = Gather (x, i)  y = Relu (q)"), graph("r = Neg (x)  y = Gather (r, i)"));
    check_differ(&a, &b, Equivalence::Rounded);
}

/// An equality of sizes that only one model declares is not used.
#[test]
fn sizes_that_one_model_equates_can_differ() {
    let free = "g (float[?] x, float[?] z) => (float[?] y) { y = Identity (z) }";
    let tied = "g (float[N] x, float[N] z) => (float[N] y) { s = Shape (x)  y = Expand (z, s) }";
    check_differ(free, tied, Equivalence::Rounded);
    check_differ(tied, free, Equivalence::Rounded);
    let both = free.replace('?', "N");
    check(&both, tied, &[("Expand (z, s)", "Expand (x, s)")]);
    // Symbols of an expression stand for other sizes in the other model.
    let double = "g (float[N] x, float[\"2*N\"] z) => (float[K] y) <int64 two = {2}> {
        s = Shape (x)  t = Mul (s, two)  y = Expand (z, t)
    }";
    let other = "g (float[M] x, float[K] z) => (float[K] y) { y = Identity (z) }";
    check_differ(double, other, Equivalence::Rounded);
    check(
        double,
        "g (float[N] x, float[\"2*N\"] z) => (float[K] y) { y = Identity (z) }",
        &[("Identity", "Neg")],
    );
}

/// Names that are generated for sizes of the second model are new.
#[test]
fn generated_names_are_no_names_of_the_models() {
    let a = "g (float[N] p, float[N_] x, float[?] z) => (float[?] y) { y = Identity (z) }";
    let b = "g (float[?] p, float[?] x, float[N] z) => (float[?] y) { s = Shape (x)  y = Expand (z, s) }";
    check_differ(a, b, Equivalence::Rounded);
}

/// A weight is rounded only where a linear operator combines it with data.
#[test]
fn only_linear_weights_are_rounded() {
    let uses = [
        ("float[N,2]", "y = Div (x, c)", "float[2]", "0,1", "1e-8,1"),
        ("float[N,2]", "y = Div (x, c)", "float[2]", "-0.0,1", "0.0,1"),
        ("float[N,2]", "y = Mul (x, c)", "float[2]", "1e-9,1", "1e-8,1"),
        ("float[N,2]", "y = Mul (x, c)", "float[2]", "-0.0,1", "0.0,1"),
        ("bool[N,2]", "y = Greater (x, c)", "float[2]", "1e-9,1", "-1e-9,1"),
        ("bool[N,2]", "y = Greater (x, c)", "float[2]", "1.0000001,1", "1,1"),
        ("float[N,2]", "y = Mod <fmod = 1> (x, c)", "float[2]", "2.9999998,1", "3,1"),
        ("float[N,2]", "f = Floor (c)  y = Mul (x, f)", "float[2]", "2.9999998,1", "3,1"),
        ("float[N,2]", "y = Pow (x, c)", "float[2]", "2,3", "2.0000005,3"),
        ("float[N,2]", "s = Sigmoid (x)  m = Mul (s, c)  y = Log (m)", "float[2]", "0,1", "1e-7,1"),
        ("float[1,2]", "i = Cast <to = 7> (c)  y = Gather (x, i)", "float[1]", "2.9999998", "3"),
        ("float[A,B]", "i = Cast <to = 7> (c)  y = Tile (x, i)", "float[2]", "2.9999998,1", "3,1"),
        (
            "float[A,B]",
            "s = Shape (x)  f = Cast <to = 1> (s)  m = Mul (f, c)  i = Cast <to = 7> (m)  y = Expand (x, i)",
            "float[2]",
            "2.9999998,1",
            "3,1",
        ),
    ];
    for (ty, nodes, of, a, b) in uses {
        let graph = |c: &str| format!("g (float[N,2] x) => ({ty} y) <{of} c = {{{c}}}> {{ {nodes} }}");
        check_differ(&graph(a), &graph(b), Equivalence::Rounded);
    }
    let linear = ["y = Mul (x, c)", "y = Add (c, x)", "v = Identity (c)  y = Mul (x, v)"];
    for nodes in linear {
        let graph = |c: &str| format!("g (float[N,2] x) => (float[N,2] y) <float[2] c = {c}> {{ {nodes} }}");
        check_differ(&graph("{2.9999998,1}"), &graph("{3,1}"), Equivalence::Exactly);
        check(&graph("{2.9999998,1}"), &graph("{3,1}"), &[("{3,1}", "{3.0001,1}")]);
    }
}

/// Scales determine sizes, also if they are computed.
#[test]
fn rounded_scales_are_other_scales() {
    for nodes in ["y = Resize (x, \"\", c)", "d = Mul (c, one)  y = Resize (x, \"\", d)"] {
        let graph = |scale: &str| {
            format!(
                "g (float[1,1,4,4] x) => (float[1,1,A,B] y) <float[4] c = {{1,1,{scale},1.5}}, float one = {{1}}> {{ {nodes} }}"
            )
        };
        let (a, b) = (graph("1.4999999"), graph("1.5"));
        check_differ(&a, &b, Equivalence::Rounded);
        let comparison = compare(&model(&a), &model(&b), &RULES);
        assert_eq!(comparison.hindrance, None, "{nodes}");
    }
}

/// Two weights of one model that differ by rounding are kept apart.
#[test]
fn weights_of_one_model_are_not_merged() {
    let graph = |first: &str, second: &str| {
        format!(
            "g (float[N,2] x) => (float[N,2] y) <float[2] c = {{1,2}}, float[2] d = {{1.0000002,2}}, float k = {{1e7}}> {{
                p = Mul (x, c)  q = Mul (x, d)  s = Sub ({first}, {second})  y = Mul (s, k)
            }}"
        )
    };
    check_differ(&graph("p", "q"), &graph("q", "p"), Equivalence::Rounded);
}
