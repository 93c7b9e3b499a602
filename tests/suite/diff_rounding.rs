//! `onnx-diff` on models that differ by rounding.

use std::sync::LazyLock;

use onnx_lint::diff::{Comparison, Equivalence, compare};
use onnx_lint::{Model, RuleSet, read};

/// All rules, loaded once for all tests.
static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

fn model(graph: &str) -> Model {
    let text = format!("<ir_version: 8, opset_import: [\"\" : 17]>\n{graph}\n");
    let (model, findings) = read::text::read(&text);
    assert_eq!(findings, [], "{text}");
    model.expect("a model")
}

/// Compares a graph with a copy that has some text replaced.
fn compared(graph: &str, from: &str, to: &str) -> Comparison {
    assert!(graph.contains(from), "{graph} does not contain {from}");
    compare(&model(graph), &model(&graph.replace(from, to)), &RULES)
}

/// In ONNX Runtime, `Max (0, -0)` and `Max (-0, 0)` are different zeros.
#[test]
fn swapped_operands_of_max_and_min_are_not_exactly_equal() {
    let graph = "g (float[N] x, float[N] z) => (float[N] y) { y = Max (x, z) }";
    assert_eq!(compared(graph, "Max (x, z)", "Max (z, x)").computes, Equivalence::Rounded);
    assert_eq!(compared(graph, "Max (x, z)", "Min (x, z)").computes, Equivalence::Unknown);
    let sum = "g (float[N] x, float[N] z) => (float[N] y) { y = Add (x, z) }";
    assert_eq!(compared(sum, "Add (x, z)", "Add (z, x)").computes, Equivalence::Exactly);
}

/// A conversion to another opset does not swap the operands of `Max` either.
#[test]
fn converted_max_keeps_the_order_of_its_operands() {
    let graph = "g (float[N] x, float[N] z) => (float[N] y) { y = Max (x, z) }";
    let older = |text: &str| {
        let text = format!("<ir_version: 3, opset_import: [\"\" : 7]>\n{text}\n");
        read::text::read(&text).0.expect("a model")
    };
    let swapped = graph.replace("(x, z) }", "(z, x) }");
    assert_eq!(compare(&older(graph), &model(graph), &RULES).computes, Equivalence::Exactly);
    assert_eq!(compare(&older(&swapped), &model(graph), &RULES).computes, Equivalence::Rounded);
}

/// A Cast turns a rounding error of a weight into another size or another element.
#[test]
fn sizes_and_indices_of_rounded_weights_are_not_equal() {
    for nodes in [
        "p = Mul (x, w)  c = Cast <to = 7> (p)  y = Expand (x, c)",
        "p = Mul (x, w)  c = Cast <to = 7> (p)  y = ConstantOfShape (c)",
        "p = Mul (x, w)  c = Cast <to = 7> (p)  d = Add (c, c)  y = Gather (z, d)",
        "p = Mul (x, w)  c = Cast <to = 7> (p)  y = Slice (z, a, c)",
    ] {
        let graph = format!(
            "g (float[1] x, float[8] z) => (float[N] y) <float[1] w = {{0.7}}, int64[1] a = {{0}}> {{ {nodes} }}"
        );
        assert_eq!(compared(&graph, "{0.7}", "{0.7000001}").computes, Equivalence::Unknown, "{nodes}");
    }
    let kept = "g (float[N] x) => (float[N] y) <float[1] w = {0.7}> { p = Mul (x, w)  y = Relu (p) }";
    assert_eq!(compared(kept, "{0.7}", "{0.7000001}").computes, Equivalence::Rounded);
}

/// Rules that round are no proof of equal sizes, which a note states.
#[test]
fn sizes_that_depend_on_floating_point_inputs_are_noted() {
    let note = |comparison: &Comparison| comparison.notes.iter().any(|note| note.contains("rounding error"));
    let graph = "g (float[1] x, float[8] z) => (float[N] y) <float[1] w = {0.5}, float[1] v = {3.0}> {
        p = Mul (x, w)  q = Mul (p, v)  c = Cast <to = 7> (q)  y = Gather (z, c) }";
    let folded = compared(graph, "p = Mul (x, w)  q = Mul (p, v)", "p = Mul (x, v)  q = Mul (p, w)");
    assert_eq!(folded.computes, Equivalence::Rounded);
    assert!(note(&folded), "{folded:#?}");
    let exact = compared(graph, "Mul (x, w)", "Mul (w, x)");
    assert_eq!(exact.computes, Equivalence::Exactly);
    assert!(!note(&exact), "{exact:#?}");
}

/// A small bias may be the rest of terms that cancelled; other channels do not bound its error.
#[test]
fn rounding_is_relative_to_each_element_of_a_bias() {
    let graph = "g (float[N,1,4] x) => (float[N,2,4] y)
        <float[2,1,1] w = {1.0, 2.0}, float[2] b = {1.0e-9, 1.0}> { y = Conv (x, w, b) }";
    assert_eq!(compared(graph, "1.0}> {", "1.0000001}> {").computes, Equivalence::Rounded);
    assert_eq!(compared(graph, "1.0e-9", "3.0e-9").computes, Equivalence::Unknown);
}
