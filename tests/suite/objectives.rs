//! `onnx-fix --optimize-for`: each result is the best of the three by the measure of its objective.

use std::sync::LazyLock;

use onnx_lint::extract::{CostModel, Objective, estimate};
use onnx_lint::fix::{Options, fix};
use onnx_lint::graph::Model;
use onnx_lint::graph::uses::Uses;
use onnx_lint::infer;
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write::onnx::Encodable;

const OBJECTIVES: [Objective; 3] = [Objective::Nodes, Objective::Size, Objective::Latency];

/// All rules, loaded once for all tests.
static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

/// Results of the three objectives, by their measures: weighted nodes, bytes, estimated nanoseconds.
fn measures(text: &str) -> [[u64; 3]; 3] {
    let (model, findings) = read::text::read(&format!("<ir_version: 8, opset_import: [\"\" : 17]> {text}"));
    assert!(findings.is_empty(), "{findings:?}");
    let model = model.expect("a model");
    OBJECTIVES.map(|objective| {
        let pricing = CostModel { objective, ..CostModel::default() };
        let options = Options { pricing, ..Options::default() };
        let fixed = fix(model.clone(), &options, &RULES).model;
        let bytes = Encodable::new(&fixed).len() as u64;
        [cost(&fixed, Objective::Nodes), bytes, cost(&fixed, Objective::Latency)]
    })
}

fn cost(model: &Model, objective: Objective) -> u64 {
    let pricing = CostModel { objective, ..CostModel::default() };
    let facts = infer::infer(model, infer::Options::default());
    let cost = estimate(model, model.main, &facts, &Uses::new(model), &pricing);
    cost.expect("an acyclic graph").units()
}

/// Checks that each objective is the best of all three by its own measure.
/// `least` are the objectives that are strictly better than both others by their measure.
#[track_caller]
fn check(text: &str, least: &[Objective]) {
    let results = measures(text);
    for (at, objective) in OBJECTIVES.iter().enumerate() {
        let others = results.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, row)| row[at]);
        let other = others.min().expect("two other objectives");
        assert!(results[at][at] <= other, "{objective:?}: {results:?}");
        assert_eq!(results[at][at] < other, least.contains(objective), "{objective:?}: {results:?}");
    }
}

/// A name of 80 characters, as exporters derive them from module paths.
fn long(name: &str) -> String {
    format!("module_encoder_layers_0_self_attention_projection_of_the_query_and_the_key_{name:_>5}")
}

#[test]
fn names_count_for_size() {
    // One Slice instead of two saves a node, but needs more constants. The second Slice needs few bytes with short names,
    // and many with long ones.
    let slices = |name: &dyn Fn(&str) -> String| {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(name);
        format!(
            "g (float[N,64,64] x) => (float[N,32,32] y, float[N,32,32] z)
            <int64[1] i = {{0}}, int64[1] j = {{1}}, int64[1] k = {{2}}, int64[1] l = {{32}}, int64[1] m = {{33}}> {{
                {a} = Slice (x, i, l, j)  {b} = Slice ({a}, i, l, k)  {c} = Relu (x)
                {d} = Slice ({c}, j, m, j)  y = Sin ({b})  z = Slice ({d}, i, l, k) }}"
        )
    };
    check(&slices(&str::to_owned), &[Objective::Size]);
    check(&slices(&long), &[]);
}

#[test]
fn declared_types_count_for_size() {
    let declared = "g (float[N,64] x) => (float[N,64] y) <float[N,64] r, float[N,64] s> {
        r = Relu (x)  s = Sin (r)  y = Exp (s) }";
    check(declared, &[Objective::Size]);
}

#[test]
fn weights_count_for_size() {
    // A larger weight saves a node, but takes more bytes than the node.
    let scaled = format!(
        "g (float[N,16,8,8] x) => (float[N,16,8,8] y) <float[16,16,1,1] w = {{{w}}}, float[16,1,1] s = {{{s}}}> {{
            c = Conv (x, w)  a = Mul (c, s)  b = Conv (a, w)  d = Mul (b, s)  y = Add (d, x) }}",
        w = vec!["0.5"; 256].join(","),
        s = vec!["1.5"; 16].join(","),
    );
    check(&scaled, &[]);
    let unrolled = "g (float[N,32] x) => (float[N,32] y) {
        a = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)  b = Mul (x, a)  c = Sigmoid (b)  y = Mul (b, c) }";
    check(unrolled, &[]);
}
